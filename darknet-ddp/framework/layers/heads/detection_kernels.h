#ifndef DETECTION_KERNELS_H
#define DETECTION_KERNELS_H
#include "darknet.h"
#include "detection_layer.h"

#ifdef GPU

/* The figures of a mini-batch, in net.figures_gpu. */
typedef struct {
    float cost;
    detection_tally tally;
} detection_sums;

/* Compute l.delta_gpu, which holds zeros, and net.figures_gpu from l.output_gpu and net.truth_gpu.
   drawn: the anchor that was drawn for each cell of each picture, or -1; null: none was. All is
   queued: the host waits for nothing, and drawn may be freed. */
void train_detection_gpu(layer l, network net, int *drawn);

#endif
#endif
