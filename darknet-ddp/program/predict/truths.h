/* predict/truths.h: reads the boxes of a picture's label file, to draw them beside those found. */
#ifndef DDP_PREDICT_TRUTHS_H
#define DDP_PREDICT_TRUTHS_H

#include "eval/detections.h"

enum { DDP_TRUTHS_MOST = 1024 };

/* Read the boxes of the label file of the picture at `path`, at most DDP_TRUTHS_MOST. Lines
 * whose box check/label.h does not call good, with `classes` classes, are left out. Returns the
 * number of boxes; 0 if there is no label file. lines: is set to the line number of each box, from
 * 1; NULL: not wanted. */
size_t ddp_truths_read(ddp_truth truths[DDP_TRUTHS_MOST], int lines[DDP_TRUTHS_MOST],
                       const char *path, int classes);

#endif
