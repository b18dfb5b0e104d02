/* comm/group_gpu.h: a rank's GPU, and memory for sums.
 *
 * A group talks through host memory. Each of its ranks may also have a GPU; sums of that
 * GPU's memory then go through NCCL, or are copied through host memory.
 *
 * A sum of a GPU's memory is ordered on the GPU's streams, not in the program. It starts after the
 * work that the framework has queued before ddp_work_start. Work that is queued after
 * ddp_work_fence waits for it. Neither call blocks the program. If a peer is lost, only the GPU
 * would hang, and the program would not notice. So before the program itself waits for the GPU, it
 * calls ddp_group_synchronize, or waits for the sum with ddp_work_wait. */
#ifndef DDP_COMM_GROUP_GPU_H
#define DDP_COMM_GROUP_GPU_H

#include "comm/group.h"
#include "device/device.h"

typedef struct ddp_gpu_config {
    int gpu;    /* CUDA's number of this rank's GPU */
    int shared; /* other ranks of this host use the same one: NCCL then talks over sockets */
    int nccl;   /* 1: sums by NCCL; 0: through host memory and the group's transport */
    int exact;  /* sums by NCCL in the order of device/sum.h; else in an order of NCCL's own, the
                   same on every rank. Through host memory they always are. */
    int ctas;   /* most thread blocks that NCCL may use; 0: its own choice */
    const char *without_nccl; /* how to do without NCCL, for errors; NULL: nothing is said */
    /* A CUDA or NCCL call has failed; what and where is in err. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_gpu_config;

/* Give this rank its GPU. Every rank calls it, with the same nccl, exact and ctas. Blocks until
 * every rank has. The GPU becomes the calling thread's. Call it once, before any sum is opened.
 * Fails with DDP_ERR_USAGE (a build for CPUs, no such GPU, an NCCL too old),
 * DDP_ERR_MISMATCH (the ranks' NCCL differ), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config,
                             ddp_error *err) DDP_MUST_CHECK;

/* Return this rank's GPU, or the host. */
ddp_device *ddp_group_device(const ddp_group *g);

/* Return how sums of the device's memory travel: "nccl 2.27.3", "solo", "thread", "mpi" or "gloo".
 */
const char *ddp_group_transport(const ddp_group *g);

/* Wait, moving messages along, until each sum of a GPU that has a fence has arrived there.
 * Fails with DDP_ERR_COMM, when the timeout has passed, NCCL has failed or the transport has lost a
 * rank. What waits on the GPU is aborted when something of the group is released: report first,
 * then close. */
ddp_status ddp_group_synchronize(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Return for how many nanoseconds the GPU's own work stood still for sums since the group was
 * opened, for the sums that ddp_group_synchronize has seen arrive. 0 on the host. */
int64_t ddp_group_stalled_ns(const ddp_group *g);

/* Allocate memory for sums on a device, zeroed. On a GPU it is registered with NCCL, if its version
 * knows that. On the host the ranks of a host can sum it where it lies, if they share memory
 * (DDP_SCHEDULE_HIERARCHICAL). Every rank calls it for the same counts in the same order, and
 * blocks until every rank has. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_alloc_memory(ddp_group *g, ddp_device *d, float **x, size_t count,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_group_free_memory(ddp_group *g, ddp_device *d, float *x);

#endif
