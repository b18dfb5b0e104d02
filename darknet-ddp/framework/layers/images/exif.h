/* layers/images/exif.h: reads Exif's field Orientation, and turns a camera's picture upright by it,
 * as viewers, label tools and OpenCV do. decode.c and the decoders call this. */
#ifndef EXIF_H
#define EXIF_H

#include <stddef.h>

enum {
    EXIF_UPRIGHT = 1,
    EXIF_TRANSPOSED = 5, // the first of the orientations whose turning exchanges width and height
    EXIF_LAST = 8
};

/* Return the orientation in `size` bytes of Exif data, 1 to 8; EXIF_UPRIGHT if they have none.
 * `exif`: the bytes after "Exif\0\0" in a JPEG, or a PNG's whole eXIf chunk. */
int exif_orientation(const unsigned char *exif, size_t size);

/* Return the orientation in a PNG file, 1 to 8; EXIF_UPRIGHT if it has none. file[0..size) is the
 * whole file, since an eXIf chunk may stand behind the pixels. */
int exif_orientation_of_png(const unsigned char *file, size_t size);

/* Turn a picture of w x h pixels upright, from `from` to `to`, which must not overlap. A pixel has
 * c bytes; rows begin at the top. `orientation`: 1 to 8. From EXIF_TRANSPOSED on, `to` is h x w. */
void exif_turn(const unsigned char *from, int w, int h, int c, int orientation, unsigned char *to);

#endif
