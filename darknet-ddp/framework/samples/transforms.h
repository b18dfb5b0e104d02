/* samples/transforms.h: pictures and their labels as Darknet's loader sees them. */
#ifndef DDP_SAMPLES_TRANSFORMS_H
#define DDP_SAMPLES_TRANSFORMS_H

#include <stddef.h>

enum { DDP_LABEL_PATH_BYTES = 4096 };

/* Where training looks for the labels of a detector's picture. out has room for
 * DDP_LABEL_PATH_BYTES. */
void ddp_label_path(const char *picture, char *out);

/* The same for the mask of a segmenter's. */
void ddp_mask_path(const char *picture, char *out);

/* Load all of a picture, as training would, and drop it. 0 if that succeeds; note, of size bytes,
 * is then what the decoder warns of, or empty. Else note is why. */
int ddp_decode_picture(const char *picture, char *note, size_t size);

/* The size of a picture in pixels, from its header. 0 if it can be read; else both are 0. */
int ddp_picture_size(const char *picture, int *width, int *height);

/* Which libraries decode pictures here, and how the JPEGs' rounds: the same text where all pictures
 * become the same numbers. */
const char *ddp_picture_decoders(void);

/* Darknet's read_map: a number a line. The caller frees it. A file that cannot be read ends the
 * program. */
int *ddp_map_read(const char *path);

#endif
