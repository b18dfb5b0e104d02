/* comm/chunk.h: how sums of host memory are made chunk by chunk; internal to comm/ and nccl/.
 *
 * A sum's buffer, such as a bucket of gradients, is cut into chunks. chunk_pipeline.c has a few in
 * flight at a time and polls for their messages. When a message has ended it calls the group's
 * algorithm, which adds what has come and posts the chunk's next messages. A group uses one of two
 * algorithms: direct, unless ddp_group_use_schedule chooses the other.
 *
 * Direct (direct.c): rank r gets slice r of the chunk from the other ranks, sums it, and sends them
 * the sum. Small chunks, and those of 2 ranks, may go whole to the other ranks: each sums all.
 *
 * Hierarchical (hierarchical.c), on one host or several:
 * 1. Each rank puts its chunk into memory that the ranks of its host share, unless it lies there
 *    already (ddp_group_alloc_memory). It then notes on its board, also in shared memory, that the
 *    chunk is there.
 * 2. Each rank sums one slice of the chunk, or several, over the ranks of its host: its lanes.
 * 3. Ranks of different hosts that have the same lane exchange slices of it and sum these. Up to 8
 *    hosts do so directly, more hosts in stages of 8 (hierarchical_plan.h).
 * 4. Each rank writes the finished sums of its lanes to the chunks of the other ranks of its host.
 * Nothing blocks: each poll looks at boards and messages.
 *
 * A sum may be made in two halves, of which the first sends no finished sums (ddp_work_phase). An
 * all-gather is cut into chunks, too: a chunk has some floats of each rank. Algorithms also find
 * out whether the result is finite (ddp_host_sum.not_finite). */
#ifndef DDP_COMM_CHUNK_H
#define DDP_COMM_CHUNK_H

#include "comm/backend.h"
#include "comm/backoff.h"
#include "comm/chunk_pipeline.h"
#include "comm/chunk_sizes.h"
#include "comm/work.h"

/* A sum or an all-gather of host memory: the data of an engine (chunk_pipeline.c, nccl/staged.c)
 * for a ddp_work. Open it with ddp_host_sum_of. */
struct ddp_host_sum {
    const ddp_work *work;
    float *buf;              /* host memory that is summed */
    size_t count;            /* floats of buf; in an all-gather, floats of one rank */
    int gathers;             /* 1: an all-gather; buf has count floats of each rank */
    ddp_device_event *ended; /* event that is recorded when the sum has ended; NULL: none */

    /* ---- set at each start, by ddp_chunk_pipeline_start ---- */
    ddp_work_phase phase; /* phase that is made; for an all-gather DDP_ALL_GATHER */
    ddp_wire wire;        /* format of floats in messages */
    int channel;          /* channel in which messages of the sum travel */
    int chunks_left;      /* chunks that have not ended; 0: it has ended, or was never started */
    int not_finite;       /* 1: a number of the result so far is not finite */
    size_t launched;      /* how many of `count` floats are in chunks that were launched */
    struct ddp_host_sum *next; /* next sum in the queue of those that have chunks to launch */
};

/* A chunk of a sum. Algorithms append their own members. */
struct ddp_chunk {
    struct ddp_host_sum *sum; /* the sum that the chunk belongs to; NULL: the slot is free */
    /* the chunk in the sum's buffer; in an all-gather, rank 0's floats of the chunk */
    float *data;
    size_t count;      /* number of floats in the chunk; in an all-gather, of each rank */
    uint32_t sequence; /* the chunk's number, the same on every rank; it makes the messages' tag */
    int slot;          /* place among the chunks in flight: sequence % ddp_chunk_sizes.window */
    int first_request; /* number of the chunk's request 0 in the transport; the others follow */
    int ended;         /* 1: the chunk is summed or gathered; set by the algorithm */
};

/* Sizes of a group's chunks. */
struct ddp_chunk_sizes {
    size_t count; /* floats of a whole chunk */
    int window;   /* most chunks in flight */
    int requests; /* most messages of a chunk under way at a time */
};

/* A group's sums of host memory that are under way. */
struct ddp_chunk_pipeline {
    struct ddp_chunk_sizes sizes;      /* sizes for the group's algorithm; all 0: none was chosen */
    struct ddp_host_sum *first, *last; /* queue of sums that have chunks to launch */
    uint32_t next_sequence;            /* the next chunk's number */
    int chunks_in_flight;
    int *ended; /* room for the numbers of requests that ddp_transport.test returns */
    struct ddp_backoff backoff;
    /* ddp_clock_ns when a message last ended, or a chunk went on by shared memory; 0: never */
    int64_t last_message_ns;
    int64_t looked_ns; /* ddp_clock_ns when a wait last looked at the clock */
    /* ddp_clock_ns before which time does not count for the timeout: no wait looked at the clock
     * then, or this process was stopped; 0: no wait has looked yet */
    int64_t timeout_from_ns;

    /* ---- for wire_messages.c ---- */
    /* packed[i]: message of request i, if its floats have fewer than 32 bits */
    struct ddp_packed *packed;
    /* number of entries of `packed`: one for each request there can be */
    int requests;

    /* ---- for collective.c, and chunk_pipeline.c, which ends requests ---- */
    struct ddp_collective_request *collective_requests; /* [i]: message of request i */
    int collective_left;      /* entries of collective_requests whose message has not ended */
    uint32_t next_collective; /* number of the collective under way or next; makes its tag */
};

/* Return a host sum for w and its buffer, not started yet. w must outlive the host sum. */
static inline struct ddp_host_sum ddp_host_sum_of(const ddp_work *w)
{
    return (struct ddp_host_sum){.work = w,
                                 .buf = w->buf,
                                 .count = w->count_each ? w->count_each : w->count,
                                 .gathers = w->count_each > 0,
                                 .ended = w->ended};
}

/* A message of a chunk. Its floats travel in the sum's wire format. */
struct ddp_part {
    int peer;
    int phase; /* 0 or 1; a chunk's messages of the same phase match in the order of posting */
    float *data;
    size_t count;
};

/* Post a message of chunk c, to part->peer (send) or from it (recv), without waiting.
 *
 *   i     number of the chunk's request, from 0 to sizes.requests - 1; must be free
 *   part  is not kept. part->data must stay until the algorithm's advance is called for i, and then
 *         has the received floats
 *
 * Sent bytes are counted in g->traffic. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_part_send(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);
ddp_status ddp_part_recv(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);

static inline ddp_work_phase ddp_chunk_phase(const struct ddp_chunk *c)
{
    return c->sum->phase;
}

/* Return the address of the c->count floats of `rank` in chunk c, which is of an all-gather. */
static inline float *ddp_chunk_part_of(const struct ddp_chunk *c, int rank)
{
    return c->data + (size_t)rank * c->sum->count;
}

/* The rank that a chunk waits for. */
struct ddp_late_rank {
    int rank;        /* -1: none */
    int has_to_take; /* 1: rank `rank` has to take a message of ours; 0: it has to send one */
    int is_cause;    /* 1: as it seems, rank `rank` waits for no other rank; 0: it may */
};

/* An algorithm that sums chunks over ranks: direct or hierarchical. ddp_group.algorithm_own is its
 * own data. Its functions fail with DDP_ERR_NOMEM, DDP_ERR_COMM; open also with DDP_ERR_USAGE, on
 * every rank, if these ranks cannot use the algorithm. */
struct ddp_allreduce_algorithm {
    /* Set *sizes, and allocate the chunks. Every rank calls it while no sum is in flight; it may
     * block until all have. On failure close is called. */
    ddp_status (*open)(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
    void (*close)(ddp_group *g);
    /* Return the chunk of a slot, from 0 to sizes->window - 1. */
    struct ddp_chunk *(*chunk)(ddp_group *g, int slot);

    /* Begin to sum chunk c: post its first messages. All members of *c are set; c->ended is 0. */
    ddp_status (*launch)(ddp_group *g, struct ddp_chunk *c, ddp_error *err);
    /* Go on with a chunk whose request i has ended: add what came, and post its next messages. */
    ddp_status (*advance)(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err);
    /* Called at each poll for a chunk in flight. The chunk may wait for something other than a
     * request. If that has come, go on with the chunk and set *moved to 1. Else leave *moved.
     * NULL: chunks wait for requests alone. */
    ddp_status (*look)(ddp_group *g, struct ddp_chunk *c, int *moved, ddp_error *err);

    /* After DDP_REDUCE_SCATTER this rank has summed some slices of a chunk of `count` floats.
     * Return the i-th of them, as elements of the chunk; it may be empty. *slices becomes how many
     * there are, which does not depend on count. */
    ddp_range (*share)(const ddp_group *g, size_t count, int i, int *slices);

    /* Return the rank that the chunk waits for. */
    struct ddp_late_rank (*late_rank)(const ddp_group *g, const struct ddp_chunk *c);
};

/* The direct algorithm: every rank exchanges slices with every other (direct.c). */
extern const struct ddp_allreduce_algorithm ddp_allreduce_direct;

/* The hierarchical algorithm: within hosts in shared memory, between hosts by messages
 * (hierarchical.c). If the ranks of some host cannot share memory, open fails with DDP_ERR_USAGE on
 * every rank. */
extern const struct ddp_allreduce_algorithm ddp_allreduce_hierarchical;

/* How many hosts, or blocks of hosts, meet in a stage of ddp_allreduce_hierarchical: the default of
 * ddp_group.radix. With more, a stage has many small messages. With fewer, there are more stages,
 * and each waits for polls. */
enum { DDP_HIERARCHICAL_RADIX = 8 };

#endif
