/* layers/heads/yolo_v4.h: [yolo] on a CPU as the forks with YOLOv4 compute it (l.yolo.v4 is 1). */
#ifndef YOLO_V4_H
#define YOLO_V4_H
#include "darknet.h"
#include "yolo_layer.h"

/* Return the box that one anchor of a cell predicts, in fractions of the picture. `x`: its first
 * output; the others follow l.w*l.h apart. `anchor`: its number in l.biases. `w`, `h`: pixels of
 * the input. */
box yolo_v4_box(layer l, const float *x, int anchor, int column, int row, int w, int h);

/* Apply the cfg's scale_x_y to the x and y of all boxes in l.output. */
void yolo_v4_scale(layer l);

/* Write l.delta, which must hold zeros, from l.output and net.truth for all pictures of a
 * mini-batch. Adds IoU, box loss, likelihoods and counts to *sum. */
void yolo_v4_train(layer l, network net, yolo_tally *sum);

/* Return the loss of a truth of a picture of the mini-batch: -log(objectness) - log(probability of
 * its class) + 1 - IoU, at the place whose anchor fits it best. From l.output as the forward pass
 * left it, for any [yolo] on a CPU. `truth`: its five numbers. Returns -1 if the place is not in
 * l. */
float yolo_truth_loss(layer l, network net, int picture, const float *truth);

/* Return the three parts of the cost of a mini-batch. squares: sums of squared deltas
 * (train_squares). sum: what yolo_v4_train added up. */
head_figures yolo_v4_parts_of_cost(layer l, head_figures squares, const yolo_tally *sum);

#endif
