/* A build for CPUs has no low-rank products on a GPU. */
#include "algorithms/powersgd/low_rank.h"

const ddp_low_rank_ops *const ddp_low_rank_on_gpu = NULL;
