/* glue/pictures.h: pictures and their labels as Darknet's loader sees them. */
#ifndef DDP_GLUE_PICTURES_H
#define DDP_GLUE_PICTURES_H

/* Where training looks for the labels of a detector's picture. out has room for 4096 bytes. */
void ddp_label_path(const char *picture, char *out);

/* Load all of a picture, as training would, and drop it. 0 if that succeeds. */
int ddp_decode_picture(const char *picture);

#endif
