/* layers/heads/yolo_kernels.h: the training of a [yolo] layer and its key scale_x_y on a GPU, by
 * yolo_formulas.h and yolo_v4_formulas.h. */
#ifndef YOLO_KERNELS_H
#define YOLO_KERNELS_H
#include "darknet.h"
#include "yolo_layer.h"

#ifdef GPU

/* Cost and statistics of a mini-batch. */
typedef struct {
    head_figures squares; /* each loss as a sum of squared deltas; iou and count are 0 */
    yolo_tally tally;
} yolo_sums;

/* Apply the key scale_x_y to x and y of all boxes in l.output_gpu. Queues a kernel. */
void scale_yolo_gpu(layer l);

/* Compute a mini-batch's deltas from l.output_gpu and net.truth_gpu to l.delta_gpu, which must hold
 * zeros. Write its yolo_sums to net.figures_gpu. Queues kernels on the default stream. */
void train_yolo_gpu(layer l, network net);

#endif
#endif
