/* comm/group_gpu.h: a rank's GPU, and memory for sums.
 *
 * A group talks through host memory. Each of its ranks may also have a GPU; sums of that
 * GPU's memory then go through NCCL, or are copied through host memory.
 *
 * A sum of a GPU's memory is ordered on the GPU's streams, not in the program. It starts after the
 * work that the framework has queued before ddp_work_start. Work that is queued after
 * ddp_work_fence waits for it. With NCCL neither call blocks the program; without it a fence
 * does, until the sum is in host memory. If a peer is lost, only the GPU
 * would hang, and the program would not notice. So before the program itself waits for the GPU, it
 * calls ddp_group_synchronize, or waits for the sum with ddp_work_wait. */
#ifndef DDP_COMM_GROUP_GPU_H
#define DDP_COMM_GROUP_GPU_H

#include "comm/group.h"
#include "device/device.h"

typedef struct ddp_gpu_config {
    int gpu;    /* CUDA's number of this rank's GPU, from 0 */
    int shared; /* 1: other ranks of this host use this GPU, too, so NCCL talks over sockets */
    int nccl;   /* 1: sums by NCCL; 0: through host memory and the group's transport */
    int exact;  /* 1: NCCL sums in the order of device/sum.h; 0: in an order of its own, the same on
                   every rank. Sums through host memory always have the order of device/sum.h. */
    int ctas;   /* most thread blocks that NCCL may use at a time; 0: NCCL chooses */
    const char
        *without_nccl; /* advice for errors on how to run without NCCL; NULL: none is given */
    /* Ends the program when a CUDA call has failed; err says what and where. A call of NCCL that
     * fails is DDP_ERR_COMM. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_gpu_config;

/* Give this rank its GPU, which becomes the calling thread's. Every rank calls it once, before any
 * sum is opened, with the same nccl, exact and ctas. With nccl it blocks until every rank has.
 * *config is copied. Fails with DDP_ERR_USAGE: a build for CPUs, no such GPU, an NCCL too old, or
 * with exact too many ranks that sum directly. Fails also with DDP_ERR_MISMATCH (the ranks' NCCL
 * differ), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config,
                             ddp_error *err) DDP_MUST_CHECK;

/* Return this rank's GPU (ddp_group_use_gpu), or the host; the group owns it. */
ddp_device *ddp_group_device(const ddp_group *g);

/* Return what carries sums of ddp_group_device's memory: "nccl 2.27.3", "solo", "thread", "mpi" or
 * "gloo". The text lives as long as the group. */
const char *ddp_group_transport(const ddp_group *g);

/* Wait, moving messages along, until each sum of this rank's GPU that has a fence has arrived
 * there; without a GPU do nothing. Fails with DDP_ERR_COMM when the timeout has passed, NCCL has
 * failed or the transport has lost a rank. Sums that still wait on the GPU are then aborted by the
 * first call that releases something of the group: report the error before. */
ddp_status ddp_group_synchronize(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Return for how many nanoseconds, since the group was opened, the GPU's own work stood still for
 * sums. Only sums count that ddp_group_synchronize has seen arrive. 0 on the host. */
int64_t ddp_group_stalled_ns(const ddp_group *g);

/* Allocate `count` zeroed floats for sums on device d, the host or ddp_group_device. On a GPU they
 * are registered with NCCL 2.19 or newer, but not with exact sums or several channels. On the host,
 * if hierarchical sums are in use, ranks of one host can sum large blocks where they lie. Every
 * rank calls it for the same counts in the same order; it may block until every rank has. *x: free
 * it with ddp_group_free_memory. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_alloc_memory(ddp_group *g, ddp_device *d, float **x, size_t count,
                                  ddp_error *err) DDP_MUST_CHECK;
/* Free memory of ddp_group_alloc_memory of the same device. x may be NULL; no sum of it is open. */
void ddp_group_free_memory(ddp_group *g, ddp_device *d, float *x);

#endif
