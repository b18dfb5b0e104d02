/* For builds for CPUs, in place of low_rank_cuda.c: PowerSGD has no code for a GPU. */
#include "algorithms/powersgd/low_rank.h"

const ddp_low_rank_ops *const ddp_low_rank_on_gpu = NULL;
