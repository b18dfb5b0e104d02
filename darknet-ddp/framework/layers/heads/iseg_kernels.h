#ifndef ISEG_KERNELS_H
#define ISEG_KERNELS_H
#include "darknet.h"

#ifdef GPU

enum { ISEG_INSTANCES = 90 };

/* The instances of a mini-batch's first picture, in l.head_gpu. pixels: how many pixels each has.
   errors: the mean of their squared distances from their mean value. The means follow in memory,
   l.extra values each. An instance without pixels has no mean. */
typedef struct {
    float pixels[ISEG_INSTANCES];
    float errors[ISEG_INSTANCES];
} iseg_instances;

/* Compute l.delta_gpu, and the cost in net.figures_gpu, from l.output_gpu and net.truth_gpu. All is
 * queued: the host waits for nothing. */
void train_iseg_gpu(layer l, network net);

/* Copy the instances of picture 0 to arrays of the host. means: ISEG_INSTANCES*l.extra values.
 * Waits for the GPU. */
void pull_iseg_instances(layer l, iseg_instances *of, float *means);

#endif
#endif
