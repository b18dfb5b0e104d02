/* layers/images/exif.h: Exif's field Orientation, by which a camera says how to turn its picture.
 * Viewers, label tools and OpenCV turn by it, so decode.h does, too. */
#ifndef EXIF_H
#define EXIF_H

#include <stddef.h>

enum {
    EXIF_UPRIGHT = 1,
    EXIF_TRANSPOSED = 5, // from this to EXIF_LAST, width and height change places
    EXIF_LAST = 8
};

/* Return the orientation, 1 to 8, that `size` bytes of Exif data say. exif: what follows "Exif\0\0"
 * in a JPEG, or all of a PNG's eXIf chunk. Returns EXIF_UPRIGHT if they say none. */
int exif_orientation(const unsigned char *exif, size_t size);

/* Return the orientation that a PNG file says; EXIF_UPRIGHT if it says none. file[0..size) is the
 * whole file. Its eXIf chunk may stand before or after the pixels. */
int exif_orientation_of_png(const unsigned char *file, size_t size);

/* Write w x h pixels of c bytes each, rows from the top, to `to`, turned upright from
 * `orientation`. The result is h x w if orientation is EXIF_TRANSPOSED or more, else w x h. The
 * arrays are equally large and do not overlap. */
void exif_turn(const unsigned char *from, int w, int h, int c, int orientation, unsigned char *to);

#endif
