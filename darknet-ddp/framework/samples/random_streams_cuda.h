/* samples/random_streams_cuda.h: streams of random numbers (base/random.h) in a GPU's memory. */
#ifndef DDP_SAMPLES_RANDOM_STREAMS_CUDA_H
#define DDP_SAMPLES_RANDOM_STREAMS_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set x[s * each + j], in the current GPU's memory, to draw j of the stream (seed, topic, first +
 * s), for s below samples and j below each. Each is the float that Darknet's rand_uniform(0, 1)
 * makes of the draw. Queued on the default stream. Returns the launch's error. */
cudaError_t ddp_random_streams_cuda(float *x, size_t each, size_t samples, uint64_t seed,
                                    uint32_t topic, uint64_t first);

#ifdef __cplusplus
}
#endif

#endif
