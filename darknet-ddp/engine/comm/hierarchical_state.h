/* comm/hierarchical_state.h: what the files of ddp_allreduce_hierarchical share: hierarchical.c (a
 * chunk from state to state), hierarchical_open.c (its memory), hierarchical_messages.c,
 * hierarchical_sums.c (what is summed, and where it lies) and hierarchical_gather.c (all-gathers).
 * Not for others. */
#ifndef DDP_COMM_HIERARCHICAL_STATE_H
#define DDP_COMM_HIERARCHICAL_STATE_H

#include "comm/chunk.h"
#include "comm/shared_memory.h"
#include "device/sum.h"

#include <stdatomic.h>

enum { DDP_HIERARCHICAL_LINE = 64 }; /* bytes; no two ranks write to the same */

/* What a rank tells the others of its host; it alone writes it. Behind it in shared memory lie its
 * slots. */
struct ddp_board {
    /* Chunks that it has launched, by sequence: how many. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint launched;
    /* By slot: 2 (sequence + 1), 1 more where not finite. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint shared[DDP_CHUNKS_MOST];
    uint32_t counts[DDP_CHUNKS_MOST]; /* by slot: the chunk's length */
    uint64_t places[DDP_CHUNKS_MOST]; /* by slot: where it lies (host_memory.h), or 0: in the
                                                slot */
};

enum ddp_hierarchical_state {
    DDP_HIERARCHICAL_LAUNCHED,
    DDP_HIERARCHICAL_UP,
    DDP_HIERARCHICAL_DOWN,
    DDP_HIERARCHICAL_SHARING
};

/* A message under way, for the names in errors. */
struct ddp_hierarchical_request {
    int peer;
    char incoming, pending;
};

struct ddp_hierarchical_chunk {
    struct ddp_chunk base; /* first: the two pointers are interchangeable */
    enum ddp_hierarchical_state state;
    int stage;   /* of an all-gather: how many other hosts have been talked to */
    int seen;    /* ranks of the host that are known to have launched it, or shared their lane */
    int waiting; /* messages of this stage that have not ended */
    int posted;  /* of them and those that have */
    int not_finite;
    float *
        *at; /* by local rank: where that rank has it; of those that are known to have launched */
    struct ddp_hierarchical_request *requests;
    float ***held;   /* by stage: for each part held, and node of its ranks, the sum there */
    float **in;      /* by transfer: where its parts come to */
    float **scratch; /* by stage */
};

struct ddp_hierarchical {
    struct ddp_hierarchical_plan *plan;
    int host; /* this rank's */
    struct ddp_shared_memory *memory;
    int window, requests;
    size_t chunk_count;
    struct ddp_hierarchical_chunk *chunks;
    float **parts; /* room for one pointer a rank; all NULL between uses */
};

static inline struct ddp_hierarchical *ddp_hierarchical_of(const ddp_group *g)
{
    return g->algorithm_own;
}

static inline struct ddp_board *ddp_hierarchical_board(const ddp_group *g, int local_rank)
{
    return ddp_shared_memory_of(ddp_hierarchical_of(g)->memory, local_rank);
}

/* Where this rank has the chunk: in place, or in its slot. */
static inline float *ddp_hierarchical_own(const ddp_group *g,
                                          const struct ddp_hierarchical_chunk *c)
{
    return c->at[g->local_rank];
}

/* The stage that the chunk is in. */
static inline const struct ddp_stage *ddp_hierarchical_stage(const ddp_group *g,
                                                             const struct ddp_hierarchical_chunk *c)
{
    return &ddp_hierarchical_of(g)->plan->stage[c->stage];
}

/* Nodes of the tree that make up these ranks (device/sum.h). */
int ddp_hierarchical_nodes(const ddp_group *g, struct ddp_span ranks);

/* A part of a chunk: count elements from `begin` on. */
struct ddp_slice {
    size_t begin, count;
};
struct ddp_slice ddp_hierarchical_slice_of(const ddp_group *g,
                                           const struct ddp_hierarchical_chunk *c,
                                           struct ddp_span units);

/* ---- hierarchical_open.c: the algorithm's open and close ---- */

ddp_status ddp_hierarchical_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
void ddp_hierarchical_close(ddp_group *g);

/* ---- hierarchical_messages.c: each fails with DDP_ERR_NOMEM, DDP_ERR_COMM ---- */

/* A message of the chunk's: c->waiting counts until it has ended. */
ddp_status ddp_hierarchical_post(ddp_group *g, struct ddp_hierarchical_chunk *c, int phase,
                                 int incoming, int peer, float *data, size_t count, ddp_error *err);

/* The parts of the chunk's stage, on the way up. */
ddp_status ddp_hierarchical_receive_parts(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                          ddp_error *err);
ddp_status ddp_hierarchical_send_parts(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                       ddp_error *err);

/* A stage's sums go back where its parts came from; then, were they finite? */
ddp_status ddp_hierarchical_return_sums(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);
void ddp_hierarchical_check_returned(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_gather.c: what an all-gather's chunk does in a sum's stead ---- */

/* The most messages under way at a time that it needs. */
int ddp_hierarchical_gather_requests(const ddp_group *g);

/* This rank's part is there: is it finite? */
void ddp_hierarchical_gather_begin(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* None of its messages are under way: post those with the next hosts, if there are any. */
ddp_status ddp_hierarchical_gather_post(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);
int ddp_hierarchical_gather_posted_all(const ddp_group *g, const struct ddp_hierarchical_chunk *c);

/* All of them have ended, and all of the host have launched the chunk: give these what it has. */
void ddp_hierarchical_gather_share(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* All of the host have done so: bring from the slot what they gave. */
void ddp_hierarchical_gather_take(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_sums.c ---- */

/* All of the host have launched it: sum this rank's lane over them, into held[0]. */
void ddp_hierarchical_sum_lane(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* The parts of the chunk's stage have come: sum what stays with this rank, over all that the stage
 * brings together, into held of the next. */
void ddp_hierarchical_sum_stage(const ddp_group *g, struct ddp_hierarchical_chunk *c);

#endif
