/* nccl/state.h: the data of sums by NCCL, and functions that nccl.c, memory.c and tree_sum.c share.
 * For these files alone. */
#ifndef DDP_NCCL_STATE_H
#define DDP_NCCL_STATE_H

#include "comm/group_schedule.h"
#include "nccl/sum.h"

#include <nccl.h>

struct ddp_nccl_memory;
struct ddp_nccl_plan;

/* A communicator of NCCL with its stream. Its sums run one after the other on the stream, so they
 * share one block of scratch memory. */
struct ddp_nccl_channel {
    ncclComm_t comm; /* NULL: not opened yet, aborted or closed */
    cudaStream_t stream;
    float *scratch; /* memory for ordered sums, and for sums that travel in 16 bits; NULL: none */
};

/* The data of sums by NCCL (ddp_gpu_transport.state). */
struct ddp_nccl {
    struct ddp_nccl_channel channels[DDP_CHANNELS_MAX]; /* the first ddp_group.channels are used */
    int next_channel;                                   /* index of the channel of the next sum */
    /* NCCL's version, as ncclGetVersion returns it */
    int version;
    size_t scratch_count;           /* floats of each channel's scratch */
    struct ddp_nccl_memory *memory; /* list of memory that NCCL has allocated */
    /* plan of ordered sums, and of the second half (DDP_ALL_GATHER, comm/work.h) of any sum */
    struct ddp_nccl_plan *plan;
};

static inline struct ddp_nccl *ddp_nccl_of(const ddp_group *g)
{
    return g->gpu->transport.state;
}

/* Check rc, the result of a call of NCCL, and wait if the call is still at work. call: the call's
 * text, for errors. If only NCCL noticed that another rank failed, waits 2 s, so that that one
 * reports first. Fails with DDP_ERR_COMM, also after the group's timeout, and DDP_ERR_NOMEM. */
ddp_status ddp_nccl_check(ddp_group *g, ncclResult_t rc, const char *call, ddp_error *err);
#define DDP_NCCL(g, call, err) ddp_nccl_check(g, call, #call, err)

/* Allocate `count` zeroed floats of the GPU for sums; NULL: no memory. Every rank calls it with the
 * same count, and may wait for the others. The caller frees the floats by ddp_nccl_free. */
float *ddp_nccl_alloc(ddp_group *g, size_t count);
/* Free memory of ddp_nccl_alloc, after waiting for the GPU's work. */
void ddp_nccl_free(ddp_group *g, float *x);

/* Free the memory that NCCL has allocated for ddp_nccl_alloc and that was not freed. */
void ddp_nccl_free_all(ddp_group *g);

#endif
