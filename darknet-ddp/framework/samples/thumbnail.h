/* samples/thumbnail.h: a small copy of a picture, as JPEG. */
#ifndef DDP_SAMPLES_THUMBNAIL_H
#define DDP_SAMPLES_THUMBNAIL_H

#include <stddef.h>

typedef struct ddp_thumbnail {
    unsigned char *bytes; /* a JPEG file, count of them; NULL: there is none. Free it. */
    size_t count;
} ddp_thumbnail;

/* No side of it is longer than `most` pixels. None of a picture that cannot be read, or without
 * memory. */
ddp_thumbnail ddp_thumbnail_of(const char *path, int most);

#endif
