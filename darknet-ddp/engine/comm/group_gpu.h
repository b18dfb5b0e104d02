/* comm/group_gpu.h: gives a rank of a group its GPU, and allocates memory for sums.
 *
 * Sums of a GPU's memory (comm/work.h) go through NCCL, or are copied through host memory. They are
 * ordered with the other work on the GPU's streams:
 *
 * 1. ddp_work_start: the sum begins after the work that was queued before.
 * 2. ddp_work_fence: work that is queued from then on waits for the sum. With NCCL it does not
 *    block. Without NCCL it blocks until the sum is in host memory.
 * 3. ddp_group_synchronize, or ddp_work_wait for one sum: call it before the program itself waits
 *    for the GPU. If a peer is lost, this call fails, but a wait for the GPU would never end. */
#ifndef DDP_COMM_GROUP_GPU_H
#define DDP_COMM_GROUP_GPU_H

#include "comm/group.h"
#include "device/device.h"

typedef struct ddp_gpu_config {
    int gpu; /* CUDA's number of this rank's GPU, from 0 */
    /* 1: other ranks of this host use this GPU, too; NCCL then takes this rank for a host */
    int shared;
    int nccl;  /* 1: sums by NCCL; 0: through host memory and the group's transport */
    int exact; /* 1: NCCL sums float32 in the order of device/sum.h; 0: in an order of its own, the
                  same on every rank. Sums through host memory always have device/sum.h's order. */
    int ctas;  /* most thread blocks that NCCL may use at a time in a channel; 0: NCCL chooses */
    /* advice in errors on how to run without NCCL; must stay valid; NULL: none */
    const char *without_nccl;
    /* function that ends the program when a CUDA call has failed; err says which call and why.
     * Failures of NCCL are returned as DDP_ERR_COMM instead. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_gpu_config;

/* Give this rank its GPU, and make it the calling thread's current GPU. Every rank calls it once,
 * before any sum is opened, with the same nccl, exact and ctas. With nccl it blocks until every
 * rank has called it. *config is copied. On failure the rank has no GPU. If all ranks have failed
 * with DDP_ERR_USAGE or DDP_ERR_MISMATCH, they may call it again. Fails with
 *
 *   DDP_ERR_USAGE     this build is for CPUs, there is no such GPU, NCCL is too old, or exact is 1
 *                     and too many ranks sum directly
 *   DDP_ERR_MISMATCH  ranks have different versions of NCCL
 *   DDP_ERR_NOMEM, DDP_ERR_COMM */
ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config,
                             ddp_error *err) DDP_MUST_CHECK;

/* Return this rank's GPU, or the host if it has none. The group owns the device. */
ddp_device *ddp_group_device(const ddp_group *g);

/* Return what carries sums of ddp_group_device's memory: "nccl 2.27.3", "solo", "thread", "mpi" or
 * "gloo". The text lives as long as the group. */
const char *ddp_group_transport(const ddp_group *g);

/* Wait until all sums of this rank's GPU that have a fence have arrived there, and move messages
 * along meanwhile. Without a GPU there is nothing to wait for. Fails with DDP_ERR_COMM if the group
 * has failed before, the timeout has passed, NCCL has failed or the transport has lost a rank.
 * Fails also with DDP_ERR_NOMEM. After a failure, report the error before you close or free
 * anything of the group, since closing makes other ranks fail, too. */
ddp_status ddp_group_synchronize(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Return for how many nanoseconds this rank's GPU has waited for sums instead of computing, since
 * the group was opened; 0 without a GPU. A sum counts once ddp_group_synchronize or another call
 * has waited for it, but not if its fence is for another queue (ddp_work_fence_before). */
int64_t ddp_group_stalled_ns(const ddp_group *g);

/* Allocate `count` zeroed floats on device d, the host or ddp_group_device, for buffers of sums.
 * Sums of this memory may be faster than of other memory: ranks of a host, or NCCL, need no copy of
 * it. Every rank calls it with the same counts in the same order; it may block until all have. Free
 * *x with ddp_group_free_memory; on failure there is nothing to free. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_group_alloc_memory(ddp_group *g, ddp_device *d, float **x, size_t count,
                                  ddp_error *err) DDP_MUST_CHECK;
/* Free x, which ddp_group_alloc_memory has allocated on d; NULL is allowed. Close all sums of this
 * memory first. */
void ddp_group_free_memory(ddp_group *g, ddp_device *d, float *x);

#endif
