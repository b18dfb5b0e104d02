/* emulated/include/cuda_runtime.h: the emulated CUDA runtime, and what kernels need. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef EMULATED_KERNELS
#include "emulated_kernels.h"
#endif

#endif
