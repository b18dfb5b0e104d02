/* emulated/include/cuda_runtime.h: includes the emulated CUDA runtime and, for code that has
 * kernels (EMULATED_KERNELS), what a kernel may use. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef EMULATED_KERNELS
#include "emulated_kernels.h"
#endif

#endif
