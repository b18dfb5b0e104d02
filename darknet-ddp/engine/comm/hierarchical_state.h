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

/* A board tells the others of the host about a rank, which alone writes to it. Behind it in shared
 * memory lie the rank's slots. */
struct ddp_board {
    /* How many chunks it has launched: the sequence number of the last one, plus 1. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint launched;
    /* By slot: 2 (sequence + 1) of the chunk that it has shared last, and 1 more if a sum of it is
     * not finite. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint shared[DDP_CHUNKS_MOST];
    uint32_t counts[DDP_CHUNKS_MOST]; /* by slot: the chunk's length */
    uint64_t places[DDP_CHUNKS_MOST]; /* by slot: where it lies (host_memory.h), or 0: in the
                                                slot */
};

/* A chunk waits for: */
enum ddp_hierarchical_state {
    DDP_HIERARCHICAL_MEETING,   /* the host's ranks to launch it */
    DDP_HIERARCHICAL_REDUCING,  /* slices of other hosts, to add */
    DDP_HIERARCHICAL_RETURNING, /* sums of other hosts */
    DDP_HIERARCHICAL_GATHERING, /* an all-gather's messages with other hosts */
    DDP_HIERARCHICAL_SHARING    /* the host's ranks to give it what they have */
};

/* A message under way, for the names in errors. */
struct ddp_hierarchical_request {
    int peer;
    char incoming, pending;
};

struct ddp_hierarchical_chunk {
    struct ddp_chunk base; /* first: the two pointers are interchangeable */
    enum ddp_hierarchical_state state;
    int stage;        /* index in the plan, while it reduces and returns */
    int hosts_posted; /* all-gather: other hosts whose messages have been posted */
    int seen;         /* ranks of the host that are known to have launched it, or shared it */
    int waiting;      /* messages that have not ended */
    int posted;       /* messages of this stage, or of these hosts, ended or not */
    int not_finite;
    /* By local rank: where that rank has the chunk. Set for those that have launched it. */
    float **at;
    struct ddp_hierarchical_request *requests;
    float ***held;   /* by stage: for each held slice, and branch of its ranks, the sum there */
    float **in;      /* by transfer: where its sums come to, those of each branch in turn */
    float **scratch; /* by stage: memory for what comes in */
};

struct ddp_hierarchical {
    struct ddp_hierarchical_plan *plan;
    int host; /* this rank's */
    struct ddp_shared_memory *memory;
    int window, requests;
    size_t chunk_count;
    struct ddp_hierarchical_chunk *chunks;
    float **addends; /* room for one pointer a rank; all NULL between uses */
};

static inline struct ddp_hierarchical *ddp_hierarchical_of(const ddp_group *g)
{
    return g->algorithm_own;
}

static inline struct ddp_board *ddp_hierarchical_board(const ddp_group *g, int local_rank)
{
    return ddp_shared_memory_of(ddp_hierarchical_of(g)->memory, local_rank);
}

/* Return where this rank has the chunk: in place, or in its slot. */
static inline float *ddp_hierarchical_own(const ddp_group *g,
                                          const struct ddp_hierarchical_chunk *c)
{
    return c->at[g->local_rank];
}

/* Return the stage that the chunk is in. */
static inline const struct ddp_stage *ddp_hierarchical_stage(const ddp_group *g,
                                                             const struct ddp_hierarchical_chunk *c)
{
    return &ddp_hierarchical_of(g)->plan->stage[c->stage];
}

/* Return how many branches of the tree make up these ranks (device/sum.h). */
int ddp_hierarchical_nodes(const ddp_group *g, struct ddp_span ranks);

/* count elements of a chunk, from `begin` on. */
struct ddp_slice {
    size_t begin, count;
};

/* Return the elements that these units are in the chunk. */
struct ddp_slice ddp_hierarchical_slice_of(const ddp_group *g,
                                           const struct ddp_hierarchical_chunk *c,
                                           struct ddp_span units);

/* ---- hierarchical_open.c: the algorithm's open and close ---- */

ddp_status ddp_hierarchical_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
void ddp_hierarchical_close(ddp_group *g);

/* ---- hierarchical_messages.c: each fails with DDP_ERR_NOMEM, DDP_ERR_COMM ---- */

/* Post a message of the chunk. It counts in c->waiting until it has ended. phase: 0 while sums are
 * made, 1 while they return; it is part of the message's tag. */
ddp_status ddp_hierarchical_post(ddp_group *g, struct ddp_hierarchical_chunk *c, int phase,
                                 int incoming, int peer, float *data, size_t count, ddp_error *err);

/* Post the receiving, or the sending, of the slices of the chunk's stage that are to be added. */
ddp_status ddp_hierarchical_receive_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                           ddp_error *err);
ddp_status ddp_hierarchical_send_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);

/* Post the messages that carry the sums of the chunk's stage back to where its slices came from. */
ddp_status ddp_hierarchical_return_sums(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);

/* When these have ended: set c->not_finite if a sum that came back is marked as not finite. */
void ddp_hierarchical_check_returned(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_gather.c: the steps of an all-gather's chunk, in their order ---- */

/* Return the most messages under way at a time that a chunk needs. */
int ddp_hierarchical_gather_requests(const ddp_group *g);

/* At launch: set c->not_finite if this rank's own floats are not finite. */
void ddp_hierarchical_gather_check_own(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* While no message of the chunk is under way: post those with the next hosts, as many as there are
 * requests for. */
ddp_status ddp_hierarchical_gather_post(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);
int ddp_hierarchical_gather_posted_all(const ddp_group *g, const struct ddp_hierarchical_chunk *c);

/* When all messages have ended and the host's ranks have launched the chunk: write what this rank
 * has, its own and what came, to where they want it. */
void ddp_hierarchical_gather_share(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* When all of the host's ranks have done so: copy what they have written to the slot to its place.
 */
void ddp_hierarchical_gather_copy_shared(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_sums.c ---- */

/* When the host's ranks have launched the chunk: sum this rank's lane over them, into held[0]. */
void ddp_hierarchical_sum_lane(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* When the slices of the chunk's stage have come: sum the slices that this rank keeps over all
 * ranks of the next stage's block, into that stage's held. */
void ddp_hierarchical_sum_stage(const ddp_group *g, struct ddp_hierarchical_chunk *c);

#endif
