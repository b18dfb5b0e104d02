/* layers/heads/detection_kernels.h: the training of a [detection] on a GPU. */
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

/* Compute a mini-batch's deltas from l.output_gpu and net.truth_gpu. They go to l.delta_gpu, which
 * must hold zeros, its detection_sums to net.figures_gpu. `drawn`: on the host, for each cell of
 * each picture the box that learns its truth, or -1 (train_detection_cell); null: -1 for all.
 * Queues kernels, and waits for nothing. The caller may free drawn at once. */
void train_detection_gpu(layer l, network net, int *drawn);

#endif
#endif
