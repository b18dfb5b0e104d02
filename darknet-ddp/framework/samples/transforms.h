/* samples/transforms.h: pictures and their labels as Darknet's loader sees them. */
#ifndef DDP_SAMPLES_TRANSFORMS_H
#define DDP_SAMPLES_TRANSFORMS_H

enum { DDP_LABEL_PATH_BYTES = 4096 };

/* Where training looks for the labels of a detector's picture. out has room for
 * DDP_LABEL_PATH_BYTES. */
void ddp_label_path(const char *picture, char *out);

/* The same for the mask of a segmenter's. */
void ddp_mask_path(const char *picture, char *out);

/* Load all of a picture, as training would, and drop it. 0 if that succeeds. */
int ddp_decode_picture(const char *picture);

/* The size of a picture in pixels, from its header. 0 if it can be read. */
int ddp_picture_size(const char *picture, int *width, int *height);

/* Darknet's read_map: a number a line. The caller frees it. A file that cannot be read ends the
 * program. */
int *ddp_map_read(const char *path);

#endif
