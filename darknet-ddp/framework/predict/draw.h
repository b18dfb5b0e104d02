/* predict/draw.h: boxes drawn into pictures, each class in a colour of its own. */
#ifndef DDP_PREDICT_DRAW_H
#define DDP_PREDICT_DRAW_H

#include "predict/predictor.h"

typedef struct ddp_drawer ddp_drawer;

/* Return a drawer of boxes of `classes` classes. names: one for each; must outlive the drawer.
 * Without the files of Darknet's letters it draws no names. NULL: no memory. */
ddp_drawer *ddp_drawer_open(char *const *names, int classes);
void ddp_drawer_close(ddp_drawer *d); /* frees d; NULL is allowed */

/* Draw the boxes p->found, with names and scores, into p->pixels, which is not NULL. First draw
 * truths[0..count), in fractions of the picture, as thin boxes with names, so that found boxes
 * cover them. */
void ddp_draw_boxes(ddp_drawer *d, ddp_prediction *p, const ddp_truth *truths, size_t count);

/* Write p->pixels, which is not NULL, as a JPEG to PATH.jpg. A file that cannot be written ends
 * the program, as Darknet's save_image does. */
void ddp_prediction_save(const ddp_prediction *p, const char *path);

/* Write p->pixels, which is not NULL, to rgb[0..3 * width * height): red, green, blue of each
 * pixel, rows from the top. */
void ddp_prediction_bytes(const ddp_prediction *p, unsigned char *rgb);

#endif
