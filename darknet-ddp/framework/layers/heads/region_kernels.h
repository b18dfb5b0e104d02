#ifndef REGION_KERNELS_H
#define REGION_KERNELS_H
#include "darknet.h"
#include "region_layer.h"

#ifdef GPU

/* The figures of a mini-batch, in net.figures_gpu. */
typedef struct {
    head_figures squares; /* sums of squared deltas; iou and count are 0 */
    region_tally tally;
} region_sums;

/* Compute l.delta_gpu, which holds zeros, and net.figures_gpu from l.output_gpu and net.truth_gpu.
   All is queued: the host waits for nothing. */
void train_region_gpu(layer l, network net);

#endif
#endif
