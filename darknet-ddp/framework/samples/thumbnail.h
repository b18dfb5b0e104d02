/* samples/thumbnail.h: a small copy of a picture, as JPEG. */
#ifndef DDP_SAMPLES_THUMBNAIL_H
#define DDP_SAMPLES_THUMBNAIL_H

#include <stddef.h>

typedef struct ddp_thumbnail {
    unsigned char *bytes; /* a JPEG file, count of them; NULL: no memory. Free it. */
    size_t count;
} ddp_thumbnail;

/* No side of it is longer than `most` pixels. A picture that cannot be read ends the program as
 * Darknet does. */
ddp_thumbnail ddp_thumbnail_of(const char *path, int most);

#endif
