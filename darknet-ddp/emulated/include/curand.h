/* emulated/include/curand.h: the emulated cuRAND: random numbers in (0, 1], other than cuRAND's. */
#ifndef EMULATED_CURAND_H
#define EMULATED_CURAND_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct emulated_curand *curandGenerator_t;

typedef enum {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_LAUNCH_FAILURE = 201
} curandStatus_t;

typedef enum {
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
} curandRngType_t;

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *x, size_t count);

#ifdef __cplusplus
}
#endif

#endif
