/* The emulated device for C, and for kernels, which translate.py turned into C++. */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#ifdef EMULATED_KERNELS
#include "emulated_kernels.h"
#endif

#endif
