/* predict/truths.h: reads the boxes of a picture's label file, to show, compare or mend them. */
#ifndef DDP_PREDICT_TRUTHS_H
#define DDP_PREDICT_TRUTHS_H

#include "eval/detections.h"

enum { DDP_TRUTHS_MOST = 1024 };

/* Read the good boxes (check/label.h) of the label file of the picture at `path`, at most
 * DDP_TRUTHS_MOST. Returns how many; 0 if the label file cannot be read.
 *   lines     becomes the line number of each box, from 1; NULL: not wanted
 *   classes   number of classes; a box of another class is not good */
size_t ddp_truths_read(ddp_truth truths[DDP_TRUTHS_MOST], int lines[DDP_TRUTHS_MOST],
                       const char *path, int classes);

#endif
