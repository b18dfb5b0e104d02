/* nccl/sum.h: a group's GPU, and the sums of its memory on their way. Included by nccl/ alone, in a
 * build with CUDA.
 *
 * The file sum.c has what all such sums need. A sum is made by nccl.c, which queues its work, or by
 * staged.c, step by step in progress. The file gpu.c opens the GPU and picks one of these two.
 *
 * Gradients, statistics, momentum and partial sums lie in the GPU's memory. The code in core
 * reaches them through device/device.h: memcpy on the host, and work on CUDA's default stream on a
 * GPU. Darknet queues its kernels on that stream and runs ahead of them; so do the hooks. A sum
 * may instead wait for another queue (sum->behind), or have another one wait for it (sum->before).
 *
 * 1. When the weight gradient's kernel is queued, ddp_work_start (nccl/sum.c) records `ready` on
 *    its stream. The comm stream waits for it, and then has the sum queued: ncclAllReduce in place
 *    (nccl.c), or an ordered sum (tree_sum.c) with -ddp_exact or -ddp_shard_optimizer. An ordered
 *    sum is messages by ncclSend and ncclRecv, and a kernel that adds in the tree of device/sum.h,
 *    level by level (tree_plan.c); then the sums go back. After it `landed` is recorded.
 * 2. Before the update ddp_work_fence has the default stream wait for `landed`. The program waits
 *    for nothing (ddp_work_wait is where it does).
 * 3. Without NCCL (staged.c) the GPU copies the bucket to pinned memory, MPI or Gloo sums it there
 *    as on CPUs, and the GPU copies it back. Polls at the hooks begin each step, and a fence
 *    blocks until the last copy is queued. When a copy has ended is a matter of chance, so one
 *    queue keeps the order in which ranks start their sums, the loss among them.
 * 4. A GPU that waits for a lost peer says nothing, and a program that waits for such a GPU hangs.
 *    So before Darknet reads anything back, ddp_group_synchronize waits for the sums by polling.
 *    There NCCL's own errors, the timeout, and a rank that Gloo has lost are seen
 *    (ddp_chunk_pipeline_poll_transport). By then the update is queued, so the GPU has work
 *    meanwhile.
 * 5. The contents of a weights file and a state file are pulled to the host arrays that Darknet
 *    keeps of everything (ddp_param_table_pull), and pushed back on resuming. */
#ifndef DDP_NCCL_SUM_H
#define DDP_NCCL_SUM_H

#include "comm/backend.h"
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "device/cuda.h"

/* A sum of a GPU's memory: the members that every ddp_gpu_transport knows. */
struct ddp_gpu_sum {
    ddp_work *sum;
    cudaEvent_t ready;  /* event that passes when the gradients are computed: sum->began */
    cudaEvent_t landed; /* event that passes when the sum is there: sum->ended */
    cudaEvent_t
        reached; /* event that passes when the stream of sum->before has come to the fence */
    /* in pinned memory: `number` of the last start whose result was seen not to be finite */
    unsigned *not_finite;
    unsigned number; /* how often the sum was started */
    unsigned told; /* `number` of the last result that ddp_work_finite has reported as not finite */
    int in_flight; /* 1: it was started and has no fence yet */
    int queued;    /* 1: all its work is queued on the GPU, `landed` behind it */
    int unsettled; /* 1: it has a fence, and was not yet seen to land */
    struct ddp_gpu_sum *next_unsettled;
    void *own; /* the transport's own data */
};

/* How sums of the GPU's memory travel: by NCCL, or staged through host memory. */
struct ddp_gpu_transport {
    char name[32]; /* its name, for people: "nccl 2.27.3" */
    /* how sums travel, in words ("direct"); NULL: as the group's schedule says, or NCCL's way */
    const char *schedule;
    void *state;

    void (*close)(ddp_group *g);
    void (*abort)(ddp_group *g); /* ends what is queued on the GPU; its results are of no use */

    ddp_status (*sum_open)(struct ddp_gpu_sum *s, ddp_error *err);
    void (*sum_close)(struct ddp_gpu_sum *s);
    /* Start a sum, or the half of it that s->sum->phase says; the comm stream waits for s->ready
     * already. Queue its work and record s->landed, at once or in calls of progress to come, and
     * then set s->queued. */
    ddp_status (*sum_start)(struct ddp_gpu_sum *s, ddp_error *err);
    /* Return a rank's share of a sum (ddp_work_share). Member NULL: sums are cut as the group's
     * sums of host memory are. */
    ddp_status (*share)(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err);
    /* Move sums along that are not queued yet, without waiting if s is NULL. Else wait until s is
     * queued. */
    ddp_status (*progress)(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err);
    /* Allocate memory for sums. NULL: the GPU's plain memory is used. */
    float *(*alloc)(ddp_group *g, size_t count);
    void (*free)(ddp_group *g, float *x);
};

struct ddp_gpu {
    ddp_cuda *cuda;
    ddp_gpu_config config;
    struct ddp_gpu_transport transport; /* how sums travel; all zero in a group of one rank */
    struct ddp_gpu_sum *first_unsettled, *last_unsettled;
    int64_t stalled_ns;
};

/* ---- sum.c ---- */

/* The engine of sums of the GPU's memory (comm/backend.h). */
extern const struct ddp_sum_engine ddp_gpu_engine;

/* Block until every sum of the GPU that has a fence has arrived. Fails with DDP_ERR_COMM, also
 * after the group's timeout. */
ddp_status ddp_gpu_synchronize(ddp_group *g, ddp_error *err);

/* Move along, without waiting, the sums that the transport has under way. Fails with DDP_ERR_COMM.
 */
ddp_status ddp_gpu_progress(ddp_group *g, ddp_error *err);

/* Queue a kernel on a stream that looks at a range of the sum, not empty. If a number in it is not
 * finite, the kernel writes s->number to *s->not_finite. */
void ddp_gpu_check_finite(struct ddp_gpu_sum *s, ddp_range range, cudaStream_t stream);

/* ---- nccl.c, staged.c ---- */

/* Fill g->gpu->transport for sums by NCCL. Every rank calls it; blocks. On failure nothing is left
 * to close. Fails with DDP_ERR_USAGE, DDP_ERR_MISMATCH, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_nccl_open(ddp_group *g, ddp_error *err);
/* Fill g->gpu->transport for sums that are copied through host memory. Sends nothing. On failure
 * nothing is left to close. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_staged_open(ddp_group *g, ddp_error *err);

#endif
