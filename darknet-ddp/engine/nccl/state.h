/* nccl/state.h: the struct of NCCL's sums, and functions that nccl.c, memory.c and tree_sum.c
 * share. For them alone. */
#ifndef DDP_NCCL_STATE_H
#define DDP_NCCL_STATE_H

#include "comm/group_schedule.h"
#include "nccl/sum.h"

#include <nccl.h>

struct ddp_nccl_memory;
struct ddp_nccl_plan;

/* A communicator of NCCL with its stream. Its sums follow one another on the stream, so one block
 * of scratch memory is enough. */
struct ddp_nccl_channel {
    ncclComm_t comm; /* NULL: it was aborted or closed */
    cudaStream_t stream;
    /* memory for ordered sums (addends of several ranks), and for sums that travel in 16 bits */
    float *scratch;
};

/* The state of sums by NCCL: ddp_gpu_transport.state. */
struct ddp_nccl {
    struct ddp_nccl_channel channels[DDP_CHANNELS_MAX]; /* one for each channel of the group */
    unsigned sums_started; /* how many sums were started; it says which channel is next */
    int version;
    size_t scratch_count; /* floats of a channel's scratch */
    struct ddp_nccl_memory *memory;
    struct ddp_nccl_plan *plan; /* plan of ordered sums, and of second halves */
};

static inline struct ddp_nccl *ddp_nccl_of(const ddp_group *g)
{
    return g->gpu->transport.state;
}

/* Wait until NCCL has done what a call that returned rc asked for. call: the text of the call, of
 * which the error prints the name. Fails with DDP_ERR_COMM. */
ddp_status ddp_nccl_check(ddp_group *g, ncclResult_t rc, const char *call, ddp_error *err);
#define DDP_NCCL(g, call, err) ddp_nccl_check(g, call, #call, err)

/* Allocate `count` zeroed floats of the GPU for sums; returns NULL if there is no memory. Every
 * rank calls it with the same count, and may wait in it for the others. */
float *ddp_nccl_alloc(ddp_group *g, size_t count);
/* Free memory of ddp_nccl_alloc. Waits for the GPU's work. */
void ddp_nccl_free(ddp_group *g, float *x);

/* Free all memory of ddp_nccl_alloc that is registered with NCCL and was not freed. */
void ddp_nccl_free_all(ddp_group *g);

#endif
