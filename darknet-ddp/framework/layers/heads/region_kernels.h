/* layers/heads/region_kernels.h: the training of a [region] on a GPU, by region_formulas.h. */
#ifndef REGION_KERNELS_H
#define REGION_KERNELS_H
#include "darknet.h"
#include "region_layer.h"

#ifdef GPU

/* Cost and statistics of a mini-batch. */
typedef struct {
    head_figures squares; /* losses, as sums of squared deltas; iou and count are 0 */
    region_tally tally;
} region_sums;

/* Compute a mini-batch's deltas from l.output_gpu and net.truth_gpu to l.delta_gpu, which must hold
 * zeros. Write its region_sums to net.figures_gpu. Queues kernels on the default stream. */
void train_region_gpu(layer l, network net);

#endif
#endif
