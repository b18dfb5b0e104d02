/* For builds for CPUs, in place of largest_cuda.c: top-k has no code for a GPU, and
 * ddp_largest_on_gpu is NULL. */
#include "algorithms/topk/largest.h"

const ddp_largest_ops *const ddp_largest_on_gpu = NULL;
