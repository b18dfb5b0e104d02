/* samples/thumbnail.h: makes a small copy of a picture, as JPEG. */
#ifndef DDP_SAMPLES_THUMBNAIL_H
#define DDP_SAMPLES_THUMBNAIL_H

#include "eval/detections.h"

#include <stddef.h>

typedef struct ddp_thumbnail {
    unsigned char *bytes; /* a JPEG file of `count` bytes, which the caller frees; NULL: none,
                             `count` undefined */
    size_t count;
    int width, height; /* size of the small picture in pixels */
} ddp_thumbnail;

/* Return a small copy of the picture at path, or of a part of it. Its bytes are NULL if the picture
 * cannot be read or there is no memory.
 *   part   box to copy, in fractions of the picture; NULL: all of it. If the box reaches beyond the
 *          picture, it is cut to the picture, and *part becomes the cut box
 *   most   length in pixels of the copy's longer side, at most; 1 or more */
ddp_thumbnail ddp_thumbnail_of(const char *path, ddp_box *part, int most);

#endif
