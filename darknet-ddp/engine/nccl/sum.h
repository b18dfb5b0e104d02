/* nccl/sum.h: a group's GPU, and the sums of its memory on their way. Included by nccl/ alone, in a
 * build with CUDA.
 *
 * The file sum.c has what all such sums need. A sum is made by nccl.c, which queues its work, or by
 * staged.c, step by step in progress. The file gpu.c opens the GPU and picks one of these two.
 *
 * Gradients, statistics, momentum and partial sums lie in the GPU's memory. The code in core
 * reaches them through device/device.h: memcpy on the host, and work on CUDA's default stream on a
 * GPU. Darknet queues its kernels on that stream and runs ahead of them; so do the hooks. A second
 * queue of the GPU may stand in its place (sum->behind, sum->before).
 *
 * 1. When the weight gradient's kernel is queued, ddp_work_start (nccl/sum.c) records `ready`
 * there. The comm stream waits for it, and then has the sum queued: ncclAllReduce in place
 * (nccl.c), or an ordered sum (tree_sum.c) with -ddp_exact or -ddp_shard_optimizer. An ordered sum
 * is messages by ncclSend and ncclRecv, and a kernel that adds in the tree of device/sum.h, level
 * by level (tree_plan.c); then the sums go back. After it `landed` is recorded.
 * 2. Before the update ddp_work_fence has the default stream wait for `landed`. The program waits
 *    for nothing (ddp_work_wait is where it does).
 * 3. Without NCCL (staged.c) the GPU copies the bucket to pinned memory, MPI or Gloo sums it there
 * as on CPUs, and the GPU copies it back. Polls at the hooks begin each step. When a copy has ended
 *    is a matter of chance, so one queue keeps the order in which ranks start their sums, the loss
 *    among them.
 * 4. A GPU that waits for a lost peer says nothing, and a program that waits for such a GPU hangs.
 * So before Darknet reads anything back, ddp_group_synchronize waits for the sums by polling. There
 *    NCCL's own errors, the timeout, and a rank that Gloo has lost are seen
 *    (ddp_chunk_pipeline_poll_transport). By then the update is queued, so the GPU has work
 *    meanwhile.
 * 5. The contents of a weights file and a state file are pulled to the host arrays that Darknet
 * keeps of everything (ddp_param_table_pull), and pushed back on resuming.
 */
#ifndef DDP_NCCL_SUM_H
#define DDP_NCCL_SUM_H

#include "comm/backend.h"
#include "comm/group_gpu.h"
#include "comm/work.h"
#include "device/cuda.h"

/* The part of such a sum that every transport has. */
struct ddp_gpu_sum {
    ddp_work *sum;
    cudaEvent_t ready;    /* its gradients are computed; sum->began */
    cudaEvent_t landed;   /* it is summed; sum->ended */
    cudaEvent_t reached;  /* the stream of sum->before has come to the fence */
    unsigned *not_finite; /* pinned: the last sum, by number, that was seen not to be finite */
    unsigned number;      /* sums started */
    unsigned told;        /* the last sum that sums.finite has told of */
    int in_flight;        /* started, and without a fence */
    int queued;           /* all that makes it is queued on the GPU, landed behind it */
    int unsettled;        /* with a fence, and not seen to land */
    struct ddp_gpu_sum *next_unsettled;
    void *own; /* the transport's */
};

/* How sums of the GPU's memory travel: by NCCL, or staged through host memory. */
struct ddp_gpu_transport {
    char name[32];        /* for people: "nccl 2.27.3" */
    const char *schedule; /* its own, for people; NULL: it has none, or is the group's transport */
    void *state;

    void (*close)(ddp_group *g);
    void (*abort)(ddp_group *g); /* end what is queued on the GPU, in whatever way */

    ddp_status (*sum_open)(struct ddp_gpu_sum *s, ddp_error *err);
    void (*sum_close)(struct ddp_gpu_sum *s);
    /* The comm stream waits for s->ready. Queue the sum, or the phase of it that s->sum->phase
     * says, and record s->landed, or do so in a progress to come; then set s->queued. */
    ddp_status (*sum_start)(struct ddp_gpu_sum *s, ddp_error *err);
    /* Do what ddp_work_share does; NULL: sums are cut as the group's sums of host memory are. */
    ddp_status (*share)(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err);
    /* Move along what is not queued; until it is, where s is not NULL. */
    ddp_status (*progress)(ddp_group *g, struct ddp_gpu_sum *s, ddp_error *err);
    /* Memory for sums; NULL: the GPU's plain memory does. */
    float *(*alloc)(ddp_group *g, size_t count);
    void (*free)(ddp_group *g, float *x);
};

struct ddp_gpu {
    ddp_cuda *cuda;
    ddp_gpu_config config;
    struct ddp_gpu_transport transport; /* all zero in a group of one rank */
    struct ddp_gpu_sum *first_unsettled, *last_unsettled;
    int64_t stalled_ns;
};

/* ---- sum.c ---- */

extern const struct ddp_sum_engine ddp_gpu_engine;

/* Wait until every GPU sum that has a fence has arrived. Fails with DDP_ERR_COMM. */
ddp_status ddp_gpu_synchronize(ddp_group *g, ddp_error *err);

/* Move along, without waiting, the sums that the transport has under way. Fails with DDP_ERR_COMM.
 */
ddp_status ddp_gpu_progress(ddp_group *g, ddp_error *err);

/* Queue on a stream a look whether a range of the sum, which is not empty, is finite. */
void ddp_gpu_check_finite(struct ddp_gpu_sum *s, ddp_range range, cudaStream_t stream);

/* ---- nccl.c, staged.c ---- */

/* Fill g->gpu->transport. On failure nothing is left to close. */
ddp_status ddp_nccl_open(ddp_group *g, ddp_error *err);
ddp_status ddp_staged_open(ddp_group *g, ddp_error *err);

#endif
