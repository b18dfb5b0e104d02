/* comm/hierarchical_state.h: the structs of the hierarchical algorithm (comm/chunk.h), and the
 * functions that its files share: hierarchical.c (a chunk's states), hierarchical_open.c (memory),
 * hierarchical_messages.c, hierarchical_sums.c and hierarchical_gather.c (all-gathers). For these
 * files alone. Functions that return a ddp_status fail with DDP_ERR_NOMEM or DDP_ERR_COMM;
 * ddp_hierarchical_open also with DDP_ERR_USAGE, if the ranks of some host cannot share memory. */
#ifndef DDP_COMM_HIERARCHICAL_STATE_H
#define DDP_COMM_HIERARCHICAL_STATE_H

#include "comm/chunk.h"
#include "comm/shared_memory.h"
#include "device/sum.h"

#include <stdatomic.h>

enum { DDP_HIERARCHICAL_LINE = 64 }; /* bytes of a cache line; no two boards share one */

/* A rank's state, in memory that the ranks of its host share. This rank writes it, the others read
 * it. Behind the struct lie the rank's slots, each with room for a chunk. */
struct ddp_board {
    /* 1 more than the sequence number of the chunk that the rank launched last. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint launched;
    /* By slot: 2 (s + 1), where s is the sequence number of the last chunk for which the rank needs
     * the other ranks' memory no more. Plus 1 if the rank saw a number in s that is not finite. */
    _Alignas(DDP_HIERARCHICAL_LINE) atomic_uint shared[DDP_CHUNKS_MOST];
    uint32_t counts[DDP_CHUNKS_MOST]; /* by slot: ddp_chunk.count of the chunk launched last */
    /* by slot: ddp_host_memory_place of the chunk launched last; 0: it is in the slot itself */
    uint64_t places[DDP_CHUNKS_MOST];
};

/* States of a chunk, by what this rank waits for. */
enum ddp_hierarchical_state {
    DDP_HIERARCHICAL_MEETING,   /* the other ranks of the host must launch the chunk */
    DDP_HIERARCHICAL_REDUCING,  /* slices to add must arrive from other hosts, and go to them */
    DDP_HIERARCHICAL_RETURNING, /* sums must arrive from other hosts, and go to them */
    DDP_HIERARCHICAL_GATHERING, /* an all-gather's messages with other hosts must end */
    DDP_HIERARCHICAL_SHARING    /* other ranks of the host must be done with this rank's memory */
};

/* A message of a chunk. Errors name its peer. */
struct ddp_hierarchical_request {
    int peer;
    char incoming; /* 1: the message comes from peer; 0: goes to peer */
    char pending;  /* 1: the message was posted and has not ended */
};

/* A chunk of the hierarchical algorithm. */
struct ddp_hierarchical_chunk {
    struct ddp_chunk base; /* first, so that its address is that of the struct */
    enum ddp_hierarchical_state state;
    int stage;        /* index in plan->stage, while REDUCING or RETURNING */
    int hosts_posted; /* all-gather: rounds posted (a send to one host, receives from another) */
    /* ranks of the host, from its first on, that have launched the chunk (in MEETING), or that are
     * done with this rank's memory (in SHARING) */
    int ranks_seen;
    int messages_left;   /* posted messages that have not ended */
    int messages_posted; /* messages posted by the stage, its return, or the last gather_post */
    int not_finite;      /* 1: a sum over all ranks, or a float of an all-gather, is not finite */
    /* at[i]: memory of the chunk that local rank i has, mapped here; set when that rank has
     * launched the chunk */
    float **at;
    struct ddp_hierarchical_request *requests;
    /* held[stage][slice * branches + branch]: the slice's sum over one of the stage's `branches`,
     * the parts of the tree of sums (device/sum.h) that the stage adds up */
    float ***held;
    float **in;      /* in[i]: memory for the sums that transfer i brings, one for each branch */
    float **scratch; /* by stage: memory for its incoming sums; `in` points into it */
};

/* The algorithm's data (ddp_group.algorithm_own). */
struct ddp_hierarchical {
    struct ddp_hierarchical_plan *plan;
    int host; /* index of this rank's host */
    /* for each rank of the host a ddp_board and its slots, shared */
    struct ddp_shared_memory *memory;
    int window;         /* most chunks in flight */
    int requests;       /* most messages of a chunk under way at a time */
    size_t chunk_count; /* room of a slot for one chunk, in floats */
    struct ddp_hierarchical_chunk *chunks;
    float **addends; /* scratch of a sum: a pointer for each rank; all NULL between uses */
};

static inline struct ddp_hierarchical *ddp_hierarchical_of(const ddp_group *g)
{
    return g->algorithm_own;
}

static inline struct ddp_board *ddp_hierarchical_board(const ddp_group *g, int local_rank)
{
    return ddp_shared_memory_of(ddp_hierarchical_of(g)->memory, local_rank);
}

/* Return this rank's floats of the chunk: in the sum's own memory, or in the chunk's slot. */
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

/* Return how many branches of the summation tree (device/sum.h) `ranks` form. */
int ddp_hierarchical_nodes(const ddp_group *g, struct ddp_span ranks);

/* Return the elements of the chunk that these units make up. */
struct ddp_slice ddp_hierarchical_slice_of(const ddp_group *g,
                                           const struct ddp_hierarchical_chunk *c,
                                           struct ddp_span units);

/* ---- hierarchical_open.c: the algorithm's open and close ---- */

ddp_status ddp_hierarchical_open(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
void ddp_hierarchical_close(ddp_group *g);

/* ---- hierarchical_messages.c ---- */

/* Post a message of `count` floats at `data`, from peer (incoming: 1) or to it (0). It counts in
 * c->messages_left until it has ended. phase: 1 for a sum that goes back, 0 for other messages. */
ddp_status ddp_hierarchical_post(ddp_group *g, struct ddp_hierarchical_chunk *c, int phase,
                                 int incoming, int peer, float *data, size_t count, ddp_error *err);

/* Post the messages that receive slices from other hosts in the chunk's stage. */
ddp_status ddp_hierarchical_receive_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                           ddp_error *err);
/* Post the messages that send slices of the chunk to other hosts in the chunk's stage. */
ddp_status ddp_hierarchical_send_slices(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);

/* Post the messages that take the stage's sums back. This rank sends the sum of each slice to the
 * rank that it received the slice from, and receives the sums of the slices that it sent. If
 * c->not_finite is 1, sets the first element of each sum that it sends to NaN. */
ddp_status ddp_hierarchical_return_sums(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);

/* Set c->not_finite to 1 if a sum that came back is not finite, which its first element shows. Call
 * when the messages of ddp_hierarchical_return_sums have ended. */
void ddp_hierarchical_check_returned(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_gather.c: the steps of an all-gather's chunk, in their order ---- */

/* Return how many requests a chunk of an all-gather needs for its messages with one other host. */
int ddp_hierarchical_gather_requests(const ddp_group *g);

/* Set c->not_finite to 0 if all of this rank's own floats in the chunk are finite, else 1. Call
 * when the chunk is launched. */
void ddp_hierarchical_gather_check_own(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* Post the chunk's messages with the next hosts, as many as there are requests for. Call while no
 * message of the chunk is in flight, until ddp_hierarchical_gather_posted_all returns 1. */
ddp_status ddp_hierarchical_gather_post(ddp_group *g, struct ddp_hierarchical_chunk *c,
                                        ddp_error *err);
/* Return 1 if the messages with all other hosts were posted. */
int ddp_hierarchical_gather_posted_all(const ddp_group *g, const struct ddp_hierarchical_chunk *c);

/* Write this rank's own floats, and those that it has received, to the memory of the other ranks of
 * its host. Sets c->not_finite to 1 if a received one is not finite. Call when all messages have
 * ended and all ranks of the host have launched the chunk. */
void ddp_hierarchical_gather_share(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* Copy the floats that the host's other ranks have written to this rank's slot to the all-gather's
 * buffer. Does nothing if they have written to the buffer itself. Call when all of them have called
 * ddp_hierarchical_gather_share. */
void ddp_hierarchical_gather_copy_shared(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* ---- hierarchical_sums.c ---- */

/* Sum this rank's lanes (comm/hierarchical_plan.h) over the ranks of its host. The sums overwrite
 * addends; c->held[0] gets their addresses. Sets c->not_finite to 1 if a sum of all the group's
 * ranks is not finite. Call when all ranks of the host have launched the chunk. */
void ddp_hierarchical_sum_lane(const ddp_group *g, struct ddp_hierarchical_chunk *c);

/* Add the slices received in c's stage to the slices that this rank keeps. Then c->held of the next
 * stage has the addresses of the sums. Sets c->not_finite to 1 if one is over all ranks and not
 * finite. Call when all slices of the stage have come. */
void ddp_hierarchical_sum_stage(const ddp_group *g, struct ddp_hierarchical_chunk *c);

#endif
