#ifndef EXIF_H
#define EXIF_H

#include <stddef.h>

/* How a camera says that its picture is to be turned: Exif's field Orientation. Viewers, label
 * tools and OpenCV turn a picture by it, so decode.h does, too. */

enum {
    EXIF_UPRIGHT = 1,
    EXIF_TRANSPOSED = 5, // with 5 to 8, width and height change places
    EXIF_LAST = 8
};

/* Return the orientation, 1 to 8, that Exif data say. exif: what follows "Exif\0\0" in a JPEG, or
 * all of a PNG's eXIf chunk. Return EXIF_UPRIGHT if they say nothing, or are damaged. */
int exif_orientation(const unsigned char *exif, size_t size);

/* Return the orientation of a PNG file, of which file[0..size) is all. Its eXIf chunk may stand
 * before or behind the pixels. */
int exif_orientation_of_png(const unsigned char *file, size_t size);

/* Turn w x h pixels of c bytes each, rows from the top. The array `to` has room for as many bytes
 * as `from`. It gets h x w pixels if orientation is EXIF_TRANSPOSED or more, else w x h. */
void exif_turn(const unsigned char *from, int w, int h, int c, int orientation, unsigned char *to);

#endif
