/* samples/thumbnail.h: makes a small copy of a picture, or of a part of it, as JPEG. */
#ifndef DDP_SAMPLES_THUMBNAIL_H
#define DDP_SAMPLES_THUMBNAIL_H

#include "eval/detections.h"

#include <stddef.h>

typedef struct ddp_thumbnail {
    unsigned char *bytes; /* a JPEG file, which the caller frees; NULL: it could not be made */
    size_t count;         /* size of the file in bytes; of no use if `bytes` is NULL */
    int width, height;    /* size of the small picture in pixels */
} ddp_thumbnail;

/* Return a small copy of the picture at path. Its bytes are NULL if the picture cannot be read or
 * there is no memory.
 *   part   the box to copy, in fractions of the picture; becomes the box that was copied, cut to
 *          the picture and widened to whole pixels. NULL: copy all
 *   most   most pixels of the copy's longer side, 1 or more; a smaller picture keeps its size */
ddp_thumbnail ddp_thumbnail_of(const char *path, ddp_box *part, int most);

#endif
