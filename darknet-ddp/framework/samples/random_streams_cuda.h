/* samples/random_streams_cuda.h: draws the random numbers of base/random.h on a GPU. */
#ifndef DDP_SAMPLES_RANDOM_STREAMS_CUDA_H
#define DDP_SAMPLES_RANDOM_STREAMS_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fill x[0..samples * each), in the current GPU's memory, with random floats from 0 to 1. The float
 * x[s * each + j] is made of draw j of the stream (seed, topic, first + s), by the rule of
 * Darknet's rand_uniform(0, 1). Queued on the default stream. Returns CUDA's last error. */
cudaError_t ddp_random_streams_cuda(float *x, size_t each, size_t samples, uint64_t seed,
                                    uint32_t topic, uint64_t first);

#ifdef __cplusplus
}
#endif

#endif
