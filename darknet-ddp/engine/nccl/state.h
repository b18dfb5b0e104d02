/* nccl/state.h: what nccl.c, memory.c and tree_sum.c share. For them
 * alone. */
#ifndef DDP_NCCL_STATE_H
#define DDP_NCCL_STATE_H

#include "comm/group_schedule.h"
#include "nccl/sum.h"

#include <nccl.h>

struct ddp_nccl_memory;
struct ddp_nccl_plan;

/* Sums of a channel follow one another on its stream, so one piece of scratch memory is enough. */
struct ddp_nccl_channel {
    ncclComm_t comm; /* NULL: aborted, or closed */
    cudaStream_t stream;
    float *scratch; /* for ordered sums: parts of several ranks; for packed ones: all of it */
};

/* An engine's state. */
struct ddp_nccl {
    struct ddp_nccl_channel channels[DDP_CHANNELS_MAX]; /* the group's number of them */
    unsigned sums_started;                              /* whose turn it is */
    int version;
    size_t scratch_count; /* floats, for each channel */
    struct ddp_nccl_memory *memory;
    struct ddp_nccl_plan *plan; /* that ordered sums go by */
};

static inline struct ddp_nccl *ddp_nccl_of(const ddp_group *g)
{
    return g->gpu->transport.state;
}

/* Wait until the communicator has done what was asked; `call` is the text of the call, of which
 * the name is printed. Fails with DDP_ERR_COMM. */
ddp_status ddp_nccl_check(ddp_group *g, ncclResult_t rc, const char *call, ddp_error *err);
#define DDP_NCCL(g, call, err) ddp_nccl_check(g, call, #call, err)

/* Allocate memory for sums of the GPU, and free it. Every rank calls alloc, and waits there for the
 * others. NULL: no memory. */
float *ddp_nccl_alloc(ddp_group *g, size_t count);
void ddp_nccl_free(ddp_group *g, float *x);

/* Free what has not been freed. */
void ddp_nccl_free_all(ddp_group *g);

#endif
