/* predict/draw.h: boxes drawn into pictures, each class in a colour of its own. */
#ifndef DDP_PREDICT_DRAW_H
#define DDP_PREDICT_DRAW_H

#include "predict/predictor.h"

typedef struct ddp_drawer ddp_drawer;

/* Return a drawer of boxes of `classes` classes. names: one for each; must outlive the drawer.
 * Without the files of Darknet's letters it draws no names. NULL: no memory. */
ddp_drawer *ddp_drawer_open(char *const *names, int classes);
void ddp_drawer_close(ddp_drawer *d); /* frees d; NULL is allowed */

/* Draw the boxes p->found into p's pixels, which must be there, with names and scores. Below them,
 * truths[0..count), in fractions of the picture, become thin boxes with names. */
void ddp_draw_boxes(ddp_drawer *d, ddp_prediction *p, const ddp_truth *truths, size_t count);

/* Write p's pixels, which must be there, as a JPEG to PATH.jpg. A file that cannot be written ends
 * the program, as Darknet's save_image does. */
void ddp_prediction_save(const ddp_prediction *p, const char *path);

/* Write p's pixels to rgb[0..3 * width * height): red, green, blue of each, rows from the top. */
void ddp_prediction_bytes(const ddp_prediction *p, unsigned char *rgb);

#endif
