/* predict/truths.h: the boxes of a picture's label file, to draw beside what is found. */
#ifndef DDP_PREDICT_TRUTHS_H
#define DDP_PREDICT_TRUTHS_H

#include "eval/detections.h"

enum { DDP_TRUTHS_MOST = 1024 };

/* Read at most DDP_TRUTHS_MOST boxes of the label file that training would read for the picture at
 * path, in fractions of the picture. Returns how many; 0 where there is no such file. Lines that
 * training with `classes` classes would refuse are left out. lines: becomes the line of each, from
 * 1; NULL: not wanted. */
size_t ddp_truths_read(ddp_truth truths[DDP_TRUTHS_MOST], int lines[DDP_TRUTHS_MOST],
                       const char *path, int classes);

#endif
