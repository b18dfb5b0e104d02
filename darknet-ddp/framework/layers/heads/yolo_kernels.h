/* layers/heads/yolo_kernels.h: training of a [yolo] on a GPU, by the formulas of yolo_formulas.h
 * and yolo_v4_formulas.h. */
#ifndef YOLO_KERNELS_H
#define YOLO_KERNELS_H
#include "darknet.h"
#include "yolo_layer.h"

#ifdef GPU

/* Cost and statistics of a mini-batch that train_yolo_gpu leaves in net.figures_gpu. */
typedef struct {
    head_figures squares; /* sums of squared deltas; its iou and count are 0 */
    yolo_tally tally;
} yolo_sums;

/* Apply the cfg's scale_x_y to the x and y of all boxes in l.output_gpu. Queues a kernel. */
void scale_yolo_gpu(layer l);

/* Compute l.delta_gpu, which must hold zeros, and net.figures_gpu from l.output_gpu and
 * net.truth_gpu. Queues kernels on the default stream, and waits for nothing. */
void train_yolo_gpu(layer l, network net);

#endif
#endif
