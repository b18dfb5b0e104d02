#ifndef YOLO_KERNELS_H
#define YOLO_KERNELS_H
#include "darknet.h"
#include "yolo_layer.h"

#ifdef GPU

/* The figures of a mini-batch, in net.figures_gpu. */
typedef struct {
    head_figures squares; /* sums of squared deltas; iou and count are 0 */
    yolo_tally tally;
} yolo_sums;

/* scale_x_y, of l.output_gpu. */
void scale_yolo_gpu(layer l);

/* Compute l.delta_gpu, which holds zeros, and net.figures_gpu from l.output_gpu and net.truth_gpu.
 * All is queued: the host waits for nothing. */
void train_yolo_gpu(layer l, network net);

#endif
#endif
