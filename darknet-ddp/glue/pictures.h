/* glue/pictures.h: pictures and their labels as Darknet's loader sees them. */
#ifndef DDP_GLUE_PICTURES_H
#define DDP_GLUE_PICTURES_H

enum { DDP_LABEL_PATH_BYTES = 4096 };

/* Where training looks for the labels of a detector's picture. out has room for
 * DDP_LABEL_PATH_BYTES. */
void ddp_label_path(const char *picture, char *out);

/* The same for the mask of a segmenter's. */
void ddp_mask_path(const char *picture, char *out);

/* Load all of a picture, as training would, and drop it. 0 if that succeeds. */
int ddp_decode_picture(const char *picture);

#endif
