/* nccl/gpu.h: what group.c asks of a rank's GPU. Included by comm/ alone.
 * In a build with CUDA it is gpu.c, else no_gpu.c. */
#ifndef DDP_NCCL_GPU_H
#define DDP_NCCL_GPU_H

#include "comm/backend.h"

/* g->gpu, and how its memory is summed. On failure g->gpu is NULL again. */
ddp_status ddp_gpu_open(ddp_group *g, const ddp_gpu_config *config, ddp_error *err);

/* The rest is called where g->gpu is not NULL, and does what group.h says of the functions of
 * these names. */
void ddp_gpu_close(ddp_group *g);
ddp_device *ddp_gpu_device(const ddp_group *g);
const char *ddp_gpu_transport(const ddp_group *g);
ddp_status ddp_gpu_settle(ddp_group *g, ddp_error *err);
int64_t ddp_gpu_stalled_ns(const ddp_group *g);
float *ddp_gpu_alloc(ddp_group *g, size_t count); /* NULL: no memory */
void ddp_gpu_free(ddp_group *g, float *x);

/* What is queued on the GPU and waits for other ranks ends, in whatever way. */
void ddp_gpu_abort(ddp_group *g);

/* NULL: none of its own. */
const char *ddp_gpu_schedule(const ddp_group *g);

/* Are sums of the GPU's memory cut in a way of their own? Then as ddp_allreduce_share, of one that
 * more than one rank makes. */
int ddp_gpu_has_shares(const ddp_group *g);
ddp_status ddp_gpu_share(const ddp_allreduce *a, ddp_range **ranges, size_t *count, ddp_error *err);

ddp_status ddp_gpu_progress(ddp_group *g, ddp_error *err);

/* The engine for sums of the GPU's memory. */
const struct ddp_sum_engine *ddp_gpu_sums(const ddp_group *g);

#endif
