/* layers/heads/region_kernels.h: training of a [region] on a GPU (region_formulas.h). */
#ifndef REGION_KERNELS_H
#define REGION_KERNELS_H
#include "darknet.h"
#include "region_layer.h"

#ifdef GPU

/* Cost and statistics of a mini-batch that train_region_gpu leaves in net.figures_gpu. */
typedef struct {
    head_figures squares; /* sums of squared deltas; its iou and count are 0 */
    region_tally tally;
} region_sums;

/* Compute l.delta_gpu, which must hold zeros, and net.figures_gpu from l.output_gpu and
 * net.truth_gpu. Queues kernels on the default stream, and waits for nothing. */
void train_region_gpu(layer l, network net);

#endif
#endif
