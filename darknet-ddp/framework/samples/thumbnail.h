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

/* Return a copy of the picture at path, no side longer than `most` pixels, at least 1. Its bytes
 * are NULL if the picture cannot be read or there is no memory.
 *
 *   part  which part of the picture, in fractions of it; NULL: all. What reaches beyond the picture
 *         is cut off, and *part becomes what is left */
ddp_thumbnail ddp_thumbnail_of(const char *path, ddp_box *part, int most);

#endif
