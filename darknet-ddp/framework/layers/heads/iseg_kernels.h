/* layers/heads/iseg_kernels.h: training of an [iseg] on a GPU. */
#ifndef ISEG_KERNELS_H
#define ISEG_KERNELS_H
#include "darknet.h"

#ifdef GPU

enum { ISEG_INSTANCES = 90 };

/* The instances (objects) of one picture, in l.head_gpu. pixels: number of pixels of each instance.
 * errors: mean squared distance of the l.extra outputs of its pixels from the instance's means.
 * The means lie behind this struct, l.extra values an instance. Without pixels all are 0. */
typedef struct {
    float pixels[ISEG_INSTANCES];
    float errors[ISEG_INSTANCES];
} iseg_instances;

/* Compute l.delta_gpu, and the cost in net.figures_gpu, from l.output_gpu and net.truth_gpu. Queues
 * kernels and waits for nothing. */
void train_iseg_gpu(layer l, network net);

/* Copy the instances of a mini-batch's first picture to *of, and their means to `means`,
 * ISEG_INSTANCES*l.extra floats; both are on the host. Waits for the GPU. */
void pull_iseg_instances(layer l, iseg_instances *of, float *means);

#endif
#endif
