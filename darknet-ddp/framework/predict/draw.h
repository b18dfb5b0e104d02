/* predict/draw.h: draws boxes into pictures, a colour for each class; saves and copies pictures. */
#ifndef DDP_PREDICT_DRAW_H
#define DDP_PREDICT_DRAW_H

#include "predict/predictor.h"

typedef struct ddp_drawer ddp_drawer;

/* Return a drawer for boxes of `classes` classes; NULL: no memory. names[0..classes), the names to
 * draw, must outlive it. Without the files of Darknet's letters it draws boxes alone. */
ddp_drawer *ddp_drawer_open(char *const *names, int classes);
void ddp_drawer_close(ddp_drawer *d); /* Free d. NULL is allowed. */

/* Draw the boxes truths[0..count), thin and with names, into p->pixels, then the boxes p->found,
 * with names and scores. Boxes are in fractions of the picture. Their class_id must be below the
 * number of classes that d was opened for. p->pixels must not be NULL. One thread at a time. */
void ddp_draw_boxes(ddp_drawer *d, ddp_prediction *p, const ddp_truth *truths, size_t count);

/* Write p->pixels, which must not be NULL, as a JPEG file to `path` with ".jpg" behind it. If it
 * cannot be written, Darknet ends the program. */
void ddp_prediction_save_jpeg(const ddp_prediction *p, const char *path);

/* Copy p->pixels, which must not be NULL, to rgb[0..3 * width * height): red, green and blue of
 * each pixel, rows from the top. */
void ddp_prediction_copy_rgb(const ddp_prediction *p, unsigned char *rgb);

#endif
