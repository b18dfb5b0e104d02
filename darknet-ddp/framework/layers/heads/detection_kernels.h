/* layers/heads/detection_kernels.h: the training of a [detection] layer on a GPU. */
#ifndef DETECTION_KERNELS_H
#define DETECTION_KERNELS_H
#include "darknet.h"
#include "detection_layer.h"

#ifdef GPU

/* Cost and statistics of a mini-batch. */
typedef struct {
    float cost; /* sum of squared deltas */
    detection_tally tally;
} detection_sums;

/* Compute a mini-batch's deltas from l.output_gpu and net.truth_gpu to l.delta_gpu, which must hold
 * zeros. Write its detection_sums to net.figures_gpu. Queues kernels; does not wait for them.
 *   drawn   drawn[picture*cells + cell], on the host: index of the box that learns the cell's
 *           truth; -1: the box that detection_anchor chooses. NULL: -1 for all cells. The caller
 *           may free `drawn` at once, unless it is pinned */
void train_detection_gpu(layer l, network net, int *drawn);

#endif
#endif
