#ifndef ISEG_KERNELS_H
#define ISEG_KERNELS_H
#include "darknet.h"

#ifdef GPU

enum { ISEG_INSTANCES = 90 };

/* What a mini-batch leaves of its first picture in l.head_gpu: for each instance its pixels, how
   far they are from their mean, squared, and after all those the means, l.extra values each. An
   instance without pixels has no mean. */
typedef struct {
    float pixels[ISEG_INSTANCES];
    float errors[ISEG_INSTANCES];
} iseg_instances;

/* Of l.output_gpu and net.truth_gpu l.delta_gpu, and net.figures_gpu: the cost. All is queued: the
 * host waits for nothing. */
void train_iseg_gpu(layer l, network net);

/* Of picture 0, to arrays of the host; means: ISEG_INSTANCES*l.extra values. Waits. */
void pull_iseg_instances(layer l, iseg_instances *of, float *means);

#endif
#endif
