/* predict/draw.h: boxes drawn into pictures, each class in a colour of its own. */
#ifndef DDP_PREDICT_DRAW_H
#define DDP_PREDICT_DRAW_H

#include "predict/predictor.h"

typedef struct ddp_drawer ddp_drawer;

/* Return a drawer with Darknet's letters. names: a name for each of `classes` classes, which must
 * outlive the drawer. NULL: no memory. */
ddp_drawer *ddp_drawer_open(char *const *names, int classes);
void ddp_drawer_close(ddp_drawer *d); /* NULL is allowed */

/* Draw what p has found into its pixels, with names and scores, and truths[0..count), whose boxes
 * are fractions too, as thin boxes with their names. */
void ddp_draw_boxes(ddp_drawer *d, ddp_prediction *p, const ddp_truth *truths, size_t count);

/* Write p's pixels as a JPEG to PATH.jpg. A file that cannot be written ends the program, as
 * Darknet's save_image does. */
void ddp_prediction_save(const ddp_prediction *p, const char *path);

/* Write p's pixels to rgb, 3 bytes each, rows from the top. */
void ddp_prediction_bytes(const ddp_prediction *p, unsigned char *rgb);

#endif
