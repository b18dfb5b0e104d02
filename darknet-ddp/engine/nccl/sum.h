/* nccl/sum.h: a rank's GPU, and sums of its memory. Included by nccl/ alone, in builds with CUDA.
 *
 * sum.c has the code that all such sums share. nccl.c makes them by NCCL, staged.c through host
 * memory. gpu.c opens the GPU and picks one of the two.
 *
 * Darknet queues its kernels on CUDA's default stream and runs ahead of them. A bucket of gradients
 * is summed so:
 *
 * 1. When the kernels that compute the gradients are queued, ddp_work_start records the event
 *    `ready` behind them.
 * 2. The sum is queued on a second stream (one for each channel), which waits for `ready`. It is an
 *    ordered sum (tree_sum.c) of float32 with -ddp_exact or -ddp_shard_optimizer; else it is an
 *    ncclAllReduce. The event `landed` is recorded behind it.
 * 3. Before the update, ddp_work_fence has the default stream wait for `landed`. The program does
 *    not wait.
 * 4. Before Darknet reads from the GPU, ddp_group_synchronize polls until all fenced sums have
 *    landed. So a lost peer ends in an error: polls see NCCL's errors, the timeout, and a rank that
 *    Gloo has lost. If the program waited for the GPU itself, it would hang.
 *
 * Without NCCL, step 2 is a copy to pinned host memory, a sum there by MPI or Gloo, and a copy
 * back (staged.c). The fence blocks until the copy back is queued.
 *
 * Steps 1 and 3 use the default stream, unless sum->behind (step 1) or sum->before (step 3) names
 * another queue. */
#ifndef DDP_NCCL_SUM_H
#define DDP_NCCL_SUM_H

#include "comm/backend.h"
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "device/cuda.h"

/* A sum or all-gather of a GPU's memory. */
struct ddp_gpu_sum {
    ddp_work *sum;
    cudaEvent_t ready;   /* CUDA's event of sum->began: the values to sum are computed */
    cudaEvent_t landed;  /* CUDA's event of sum->ended: the sum is in the memory */
    cudaEvent_t reached; /* occurs when the queue sum->before has come to the sum's fence */
    unsigned number;     /* how often the sum was started */
    /* pinned: `number` of the last start whose result is not finite; 0: none */
    unsigned *not_finite;
    unsigned told; /* value of *not_finite when ddp_work_finite last returned 0; 0: never did */
    int is_told;   /* 1: ddp_work_finite has returned 0 since the last start */
    int in_flight; /* 1: the sum was started and has no fence yet */
    int queued;    /* 1: all work of the sum is queued on the GPU, and then `landed` */
    int unsettled; /* 1: the sum has a fence, and was not seen to land yet */
    struct ddp_gpu_sum *next_unsettled;
    void *own; /* the transport's own data */
};

/* A way in which sums of the GPU's memory travel: NCCL, or staged through host memory. Errors are
 * those of comm/work.h. */
struct ddp_gpu_transport {
    char name[32];        /* name of the transport, to print: "nccl 2.27.3" */
    const char *schedule; /* order of NCCL's sums, to print; NULL: NCCL's own, or no NCCL */
    void *state;          /* data of the transport */

    void (*close)(ddp_group *g);
    void (*abort)(ddp_group *g); /* gives up work that is queued on the GPU */

    ddp_status (*sum_open)(struct ddp_gpu_sum *s, ddp_error *err);
    void (*sum_close)(struct ddp_gpu_sum *s);
    /* Start a sum, or the half of it that s->sum->phase names. The comm stream waits for s->ready
     * already. Queues the sum's work, records s->landed and then sets s->queued, at once or in
     * later calls of the transport. */
    ddp_status (*sum_start)(struct ddp_gpu_sum *s, ddp_error *err);
    /* Serves ddp_work_share. NULL: shares are those of sums of host memory. */
    ddp_status (*share)(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err);
    /* Continue sums that are not queued yet, and fail if NCCL has failed. s NULL: do not wait; else
     * wait until s is queued. */
    ddp_status (*progress)(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err);
    /* Serve ddp_group_alloc_memory and _free_memory. alloc returns `count` zeroed floats, or NULL
     * if there is no memory. If alloc and free are NULL, plain memory of the GPU is used. */
    float *(*alloc)(ddp_group *g, size_t count);
    void (*free)(ddp_group *g, float *x);
};

/* A rank's GPU (ddp_group.gpu). */
struct ddp_gpu {
    ddp_cuda *cuda;
    ddp_gpu_config config;
    struct ddp_gpu_transport transport; /* all zero in a group of one rank */
    /* list of sums that have a fence and were not seen to land yet, in the order of fences */
    struct ddp_gpu_sum *first_unsettled, *last_unsettled;
    /* how long the GPU has waited for sums (ddp_group_stalled_ns) */
    int64_t stalled_ns;
};

/* ---- sum.c ---- */

/* The engine of sums and all-gathers of the GPU's memory (comm/backend.h). */
extern const struct ddp_sum_engine ddp_gpu_engine;

/* Block until every sum of the GPU that has a fence has landed. Fails with DDP_ERR_COMM, also after
 * the group's timeout, and with DDP_ERR_NOMEM. */
ddp_status ddp_gpu_synchronize(ddp_group *g, ddp_error *err);

/* Continue sums that are not queued on the GPU yet, without waiting. Fails with DDP_ERR_NOMEM, and
 * with DDP_ERR_COMM, also if NCCL has failed. */
ddp_status ddp_gpu_progress(ddp_group *g, ddp_error *err);

/* Queue on `stream` a kernel that reads a range of the sum, which is not empty. If an element is
 * not finite, the kernel writes s->number to *s->not_finite. */
void ddp_gpu_check_finite(struct ddp_gpu_sum *s, ddp_range range, cudaStream_t stream);

/* ---- nccl.c, staged.c ---- */

/* Set g->gpu->transport to NCCL. Every rank calls it; blocks until all have. On failure nothing is
 * left to close. Fails with DDP_ERR_USAGE, DDP_ERR_MISMATCH, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_nccl_open(ddp_group *g, ddp_error *err);
/* Set g->gpu->transport to one that copies sums through host memory, and g->host_sums to the engine
 * that goes with it. Sends nothing. On failure nothing is left open. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_staged_open(ddp_group *g, ddp_error *err);

#endif
