/* samples/thumbnail.h: makes a small copy of a picture, as JPEG. */
#ifndef DDP_SAMPLES_THUMBNAIL_H
#define DDP_SAMPLES_THUMBNAIL_H

#include <stddef.h>

typedef struct ddp_thumbnail {
    unsigned char
        *bytes; /* a JPEG file of `count` bytes, which the caller frees; NULL: there is none */
    size_t count;
} ddp_thumbnail;

/* Return a copy of the picture at path, no side longer than `most` pixels. Its bytes are NULL if
 * the picture cannot be read or there is no memory. */
ddp_thumbnail ddp_thumbnail_of(const char *path, int most);

#endif
