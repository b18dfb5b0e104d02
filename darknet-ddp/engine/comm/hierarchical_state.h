/* comm/hierarchical_state.h: the structs of ddp_allreduce_hierarchical, for its files alone. These
 * are hierarchical.c (a chunk from state to state), hierarchical_open.c (memory),
 * hierarchical_messages.c, hierarchical_sums.c (what is summed, and where it lies) and
 * hierarchical_gather.c (all-gathers). */
#ifndef DDP_COMM_HIERARCHICAL_STATE_H
#define DDP_COMM_HIERARCHICAL_STATE_H

#include "comm/chunk.h"
#include "comm/shared_memory.h"
#include "device/sum.h"

#include <stdatomic.h>

enum { DDP_HIERARCHICAL_LINE = 64 }; /* bytes of a cache line; no two ranks write to the same */

/* A rank's words to the other ranks of its host, in shared memory; it alone writes them. Behind the
 * struct lie the rank's slots: room for a chunk each. */
struct ddp_board {
    /* The sequence number, plus 1, of the chunk that the rank launched last. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint launched;
    /* By slot: 2 (sequence + 1) of the last chunk for which the rank needs others' memory no
     * longer; 1 more if a sum in that chunk is not finite. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint shared[DDP_CHUNKS_MOST];
    uint32_t counts[DDP_CHUNKS_MOST]; /* by slot: floats of the chunk that was launched last */
    /* by slot: where the chunk launched last lies (host_memory.h); 0: in the slot */
    uint64_t places[DDP_CHUNKS_MOST];
};

/* States of a chunk, by what this rank waits for. */
enum ddp_hierarchical_state {
    DDP_HIERARCHICAL_MEETING,   /* waits for the host's ranks to launch the chunk */
    DDP_HIERARCHICAL_REDUCING,  /* waits for slices of other hosts, to add them */
    DDP_HIERARCHICAL_RETURNING, /* waits for sums of other hosts */
    DDP_HIERARCHICAL_GATHERING, /* waits for an all-gather's messages with other hosts */
    /* this rank has written its lane's sum, or gathered parts, to the host's other ranks
     * (reduce-scatter: it has only read their memory); waits until all of them have, too */
    DDP_HIERARCHICAL_SHARING
};

/* A message under way. Errors name its peer. */
struct ddp_hierarchical_request {
    int peer;
    char incoming, pending;
};

struct ddp_hierarchical_chunk {
    struct ddp_chunk base; /* first, so that pointers to both are interchangeable */
    enum ddp_hierarchical_state state;
    int stage;        /* index in plan->stage, while it is reducing or returning */
    int hosts_posted; /* in an all-gather: how many other hosts' messages have been posted */
    int seen;    /* ranks of the host known to have launched the chunk (while MEETING), or to need
                    others' memory no longer (while SHARING) */
    int waiting; /* how many messages have not ended */
    int posted;  /* how many messages were posted in this stage, or in this turn of an all-gather */
    int not_finite; /* 1: a sum in it, or a float of an all-gather, is not finite */
    /* by local rank: that rank's memory of the chunk, mapped here; set when its launch is seen */
    float **at;
    struct ddp_hierarchical_request *requests;
    float ***held;   /* by stage: where sums of held slices lie, one for each branch of the tree */
    float **in;      /* by transfer: where its incoming sums go, one for each branch in turn */
    float **scratch; /* by stage: memory for incoming sums */
};

struct ddp_hierarchical {
    struct ddp_hierarchical_plan *plan;
    int host;                         /* index of this rank's host */
    struct ddp_shared_memory *memory; /* a ddp_board and slots for each rank of the host */
    int window, requests;             /* chunks in flight, and requests of each */
    size_t chunk_count;               /* floats of a slot */
    struct ddp_hierarchical_chunk *chunks;
    float **addends; /* one pointer for each rank, for sums; all NULL between uses */
};

static inline struct ddp_hierarchical *ddp_hierarchical_of(const ddp_group *g)
{
    return g->algorithm_own;
}

static inline struct ddp_board *ddp_hierarchical_board(const ddp_group *g, int local_rank)
{
    return ddp_shared_memory_of(ddp_hierarchical_of(g)->memory, local_rank);
}

/* Return where this rank has the chunk: in the sum's own memory, or in its slot. */
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

/* Return how many whole branches of the tree of sums (device/sum.h) these ranks make up. */
int ddp_hierarchical_nodes(const ddp_group *g, struct ddp_span ranks);

/* Elements begin to begin + count - 1 of a chunk. */
struct ddp_slice {
    size_t begin, count;
};

/* Return the elements of the chunk that make up these units. */
struct ddp_slice ddp_hierarchical_slice_of(const ddp_group *g,
                                           const struct ddp_hierarchical_chunk *c,
                                           struct ddp_span units);

/* ---- hierarchical_open.c: the algorithm's open and close ---- */

ddp_status ddp_hierarchical_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
void ddp_hierarchical_close(ddp_group *g);

/* ---- hierarchical_messages.c: each fails with DDP_ERR_NOMEM, DDP_ERR_COMM ---- */

/* Post a message of the chunk: `count` floats at `data`, from peer (incoming: 1) or to it (0). The
 * message counts in c->waiting until it has ended. phase: 0 while sums are made, 1 while they
 * return; it is part of the message's tag. */
ddp_status ddp_hierarchical_post(ddp_group *g, struct ddp_hierarchical_chunk *c, int phase,
                                 int incoming, int peer, float *data, size_t count, ddp_error *err);

/* Post the messages that bring slices of other hosts in the chunk's stage, to be added. */
ddp_status ddp_hierarchical_receive_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                           ddp_error *err);
/* Post the messages that send slices of the chunk to other hosts in its stage. */
ddp_status ddp_hierarchical_send_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);

/* Post the messages that take the stage's sums back. The sum of a slice goes to the rank that sent
 * the slice; the sums of the slices that this rank sent are received. */
ddp_status ddp_hierarchical_return_sums(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);

/* Set c->not_finite if a sum that came back is marked as not finite. Call when the messages of
 * ddp_hierarchical_return_sums have ended. */
void ddp_hierarchical_check_returned(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_gather.c: the steps of an all-gather's chunk, in their order ---- */

/* Return how many messages at most a chunk of an all-gather has under way at a time. */
int ddp_hierarchical_gather_requests(const ddp_group *g);

/* Set c->not_finite to 0 if all of this rank's own floats in the chunk are finite, else 1. Call
 * when the chunk is launched. */
void ddp_hierarchical_gather_check_own(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* Post the chunk's messages with the next hosts, as many as there are requests for. Call while no
 * message of the chunk is under way. */
ddp_status ddp_hierarchical_gather_post(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);
/* Return 1 if the messages with all other hosts were posted. */
int ddp_hierarchical_gather_posted_all(const ddp_group *g, const struct ddp_hierarchical_chunk *c);

/* Write this rank's own floats, and those that it has received, to where the other ranks of the
 * host want them. Call when all messages have ended and the host's ranks have launched the chunk.
 * Sets c->not_finite if one is not finite. */
void ddp_hierarchical_gather_share(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* Copy what the host's other ranks have written to this rank's slot to its place in the sum's
 * buffer. Call when all of them have done so. */
void ddp_hierarchical_gather_copy_shared(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_sums.c ---- */

/* Sum this rank's lane over the ranks of the host, and note in c->held[0] where the sums are. Call
 * when they have launched the chunk. */
void ddp_hierarchical_sum_lane(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* Add the slices that have come in the chunk's stage to those that this rank keeps, and note in the
 * next stage's c->held where the sums are. Call when all slices of the stage have come. */
void ddp_hierarchical_sum_stage(const ddp_group *g, struct ddp_hierarchical_chunk *c);

#endif
