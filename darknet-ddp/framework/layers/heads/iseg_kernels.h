/* layers/heads/iseg_kernels.h: the training of an [iseg] layer (instance segmentation) on a GPU. */
#ifndef ISEG_KERNELS_H
#define ISEG_KERNELS_H
#include "darknet.h"

#ifdef GPU

enum { ISEG_INSTANCES = 90 };

/* Statistics of the instances (objects) of a picture, in l.head_gpu. Each pixel has an embedding of
 * l.extra outputs. Behind this struct lie the mean embeddings of the instances. All numbers of an
 * instance without pixels are 0. */
typedef struct {
    float pixels[ISEG_INSTANCES]; /* number of pixels of each instance */
    /* by instance: mean squared distance of its pixels' embeddings from their mean */
    float errors[ISEG_INSTANCES];
} iseg_instances;

/* Compute a mini-batch's deltas from l.output_gpu and net.truth_gpu, and write them to l.delta_gpu.
 * Write the cost, a float, to net.figures_gpu. Queues kernels; does not wait for them. */
void train_iseg_gpu(layer l, network net);

/* Copy the first picture's instances to *of, and their mean embeddings, ISEG_INSTANCES*l.extra
 * floats, to `means`, on the host. Waits for the GPU. l: from net.layers, after train_iseg_gpu. */
void pull_iseg_instances(layer l, iseg_instances *of, float *means);

#endif
#endif
