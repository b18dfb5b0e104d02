#ifndef YOLO_V4_H
#define YOLO_V4_H
#include "darknet.h"
#include "yolo_layer.h"

/* [yolo] as the forks that have YOLOv4 compute it: for layers with yolo.v4. */

/* The box of one anchor of a cell, from its four outputs, stride apart at x. */
box yolo_v4_box(layer l, const float *x, int anchor, int column, int row, int w, int h);

/* scale_x_y of the middles, in l.output. */
void yolo_v4_scale(layer l);

/* l.delta of a mini-batch by its truth; what it says of it is added to sum. */
void yolo_v4_train(layer l, network net, yolo_tally *sum);

/* Return the terms of the cost, from the sums of squares of all deltas (train_squares) and the
 * tally of the mini-batch. */
head_figures yolo_v4_parts_of_cost(layer l, head_figures squares, const yolo_tally *sum);

#endif
