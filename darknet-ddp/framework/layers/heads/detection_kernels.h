/* layers/heads/detection_kernels.h: training of a [detection] on a GPU, by detection_formulas.h. */
#ifndef DETECTION_KERNELS_H
#define DETECTION_KERNELS_H
#include "darknet.h"
#include "detection_layer.h"

#ifdef GPU

/* Cost and statistics of a mini-batch that train_detection_gpu leaves in net.figures_gpu. cost: the
 * sum of squared deltas. */
typedef struct {
    float cost;
    detection_tally tally;
} detection_sums;

/* Compute l.delta_gpu, which must hold zeros, and net.figures_gpu from l.output_gpu and
 * net.truth_gpu. `drawn`, on the host: for each cell of each picture the anchor that was drawn, or
 * -1; null: none was. Queues kernels and waits for nothing; drawn may be freed when it returns. */
void train_detection_gpu(layer l, network net, int *drawn);

#endif
#endif
