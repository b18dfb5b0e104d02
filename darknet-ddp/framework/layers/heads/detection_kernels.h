#ifndef DETECTION_KERNELS_H
#define DETECTION_KERNELS_H
#include "darknet.h"
#include "detection_layer.h"

#ifdef GPU

/* What a mini-batch leaves in net.figures_gpu. */
typedef struct {
    float cost;
    detection_tally tally;
} detection_sums;

/* Of l.output_gpu and net.truth_gpu l.delta_gpu, which holds zeros, and net.figures_gpu. drawn: of
   each cell of each picture the anchor that was drawn, or -1; null: none was. All is queued: the
   host waits for nothing, and drawn may be freed. */
void train_detection_gpu(layer l, network net, int *drawn);

#endif
#endif
