/* layers/heads/yolo_v4.h: a [yolo] layer on a CPU, as the forks of Darknet that have YOLOv4 compute
 * it (l.yolo.v4 is 1). */
#ifndef YOLO_V4_H
#define YOLO_V4_H
#include "darknet.h"
#include "yolo_layer.h"

/* Return the box that one anchor of a cell predicts, in fractions of the picture. The anchor's
 * outputs are x[0], x[l.w*l.h], ... Its width is l.biases[2*anchor]. The network's input has w x h
 * pixels. */
box yolo_v4_box(layer l, const float *x, int anchor, int column, int row, int w, int h);

/* Apply the key scale_x_y to x and y of all boxes in l.output. */
void yolo_v4_scale(layer l);

/* Compute the deltas of a mini-batch from l.output and net.truth. They go to l.delta, which must
 * hold zeros. Add the mini-batch's statistics to *sum. */
void yolo_v4_train(layer l, network net, yolo_tally *sum);

/* Return the loss of one truth: -log(objectness) - log(probability of its class) + 1 - IoU, in the
 * truth's cell, for the anchor that fits best. Numbers below 1e-4 count as 1e-4 in a log. Return -1
 * if l does not have this anchor, or the truth lies in no cell. Call after the forward pass of l,
 * any [yolo] on a CPU. truth: x, y, w, h, class. */
float yolo_truth_loss(layer l, network net, int picture, const float *truth);

/* Return a mini-batch's losses of boxes, objectness and classes. `squares`: its sums of squared
 * deltas. `sum`: its statistics. */
head_figures yolo_v4_parts_of_cost(layer l, head_figures squares, const yolo_tally *sum);

#endif
