#ifndef REGION_KERNELS_H
#define REGION_KERNELS_H
#include "darknet.h"
#include "region_layer.h"

#ifdef GPU

/* What a mini-batch leaves in net.figures_gpu. */
typedef struct {
    head_figures squares; /* of the deltas; iou and count are 0 */
    region_tally tally;
} region_sums;

/* Of l.output_gpu and net.truth_gpu l.delta_gpu, which holds zeros, and net.figures_gpu. All is
   queued: the host waits for nothing. */
void train_region_gpu(layer l, network net);

#endif
#endif
