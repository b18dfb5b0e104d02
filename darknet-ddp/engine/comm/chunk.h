/* comm/chunk.h: a sum of host memory, its chunks, and the pipeline of chunks in flight; also the
 * two algorithms that sum a chunk over all ranks. A group uses one of them. A chunk of an
 * all-gather has some floats of each rank.
 *
 * A chunk is a state machine. Ended requests drive it, or it looks for itself whether it can go on.
 * chunk_pipeline.c cuts buffers into chunks, has some of them in flight, and polls. The code that
 * sums also looks whether the sum is finite: on every rank not_finite becomes 1 if it is not.
 *
 * There are two algorithms, of which comm/schedule_cost.c chooses one by a model of their cost.
 *
 * Direct (comm/direct.c): slice r of every rank's chunk goes to rank r, which sums them and sends
 * everybody the sum.
 *
 * Hierarchical (comm/hierarchical.c), also where all ranks are on one host. Every rank has its
 * chunk in memory that the ranks of its host share, and says so on its board there. Each rank sums
 * its lane of it over the host's ranks, in place. It exchanges slices of the lane with the ranks of
 * other hosts that have this lane: of up to 8 hosts directly, of more in stages of 8. Then it
 * writes the sum to the chunks of the other ranks of its host. The plan (comm/hierarchical_plan.h)
 * says which rank sends what to which.
 * Gradients lie in shared memory (ddp_group_alloc_memory) and are not copied. Other memory, and
 * small sums, go through slots. Polls look at boards and messages, so nothing blocks. A board that
 * has not changed tells which rank of this host is late, a missing message which rank of another
 * host. */
#ifndef DDP_COMM_CHUNK_H
#define DDP_COMM_CHUNK_H

#include "comm/backend.h"
#include "comm/backoff.h"
#include "comm/chunk_pipeline.h"
#include "comm/chunk_sizes.h"
#include "comm/work.h"

/* A sum, or an all-gather, of host memory: its engine's private part of a ddp_work
 * (chunk_pipeline.c, nccl/staged.c). The opener sets buf, count, gathers, number, ended; all else
 * is 0. */
struct ddp_host_sum {
    float *buf;
    size_t count; /* floats of buf; in an all-gather, floats of one rank */
    int gathers;  /* 1: an all-gather; buf has count floats of each rank */
    int number;
    ddp_work_phase phase;    /* half that was started last; for an all-gather DDP_ALL_GATHER */
    ddp_wire wire;           /* format of floats in messages, set at each start */
    int channel;             /* channel of the sum's messages, set at each start */
    ddp_device_event *ended; /* event that is recorded when it has ended; NULL: none */

    int chunks_left; /* chunks that have not ended; 0: it has ended, or was never started */
    int not_finite;  /* 1: the sum that was started last has a number that is not finite */
    size_t launched; /* floats in chunks that were launched */
    struct ddp_host_sum *next; /* next sum in the queue of those that have chunks to launch */
};

/* The members of a chunk that every algorithm has. */
struct ddp_chunk {
    struct ddp_host_sum *sum; /* the sum that it is a chunk of; NULL: the slot is free */
    float *data;       /* the chunk in the sum's buffer; in an all-gather, rank 0's floats of it */
    size_t count;      /* floats; in an all-gather: those of one rank */
    uint32_t sequence; /* the chunk's number, the same on every rank; it makes the messages' tag */
    int slot;          /* place among the chunks in flight: sequence modulo the window */
    int first_request; /* number of the chunk's request 0 in the transport; the others follow */
    int ended;         /* 1: it is summed, or gathered; the algorithm sets it */
};

struct ddp_chunk_sizes {
    size_t count; /* floats of a whole chunk */
    int window;   /* chunks in flight */
    int requests; /* most requests of one chunk at a time */
};

/* Sums under way (chunk_pipeline.c). A group has one of these. */
struct ddp_chunk_pipeline {
    struct ddp_chunk_sizes sizes; /* sizes of chunks; all 0 before the group has an algorithm */
    struct ddp_host_sum *first, *last; /* queue of sums that have chunks to launch */
    uint32_t next_sequence;            /* the next chunk's number */
    int chunks_in_flight;
    int *ended;              /* room for the requests that one call of the transport's test ends */
    int64_t last_message_ns; /* ddp_clock_ns when a message to or from this rank last ended */
    int64_t looked_ns;       /* ddp_clock_ns when a wait last looked at the clock */
    /* ddp_clock_ns from which the timeout counts at the earliest: this process was stopped before
     * then; 0: it never was stopped */
    int64_t began_ns;
    struct ddp_backoff backoff; /* state of waits between polls */

    /* Members of wire_messages.c, by request: messages in fewer than 32 bits; how many requests. */
    struct ddp_packed *packed;
    int requests;

    /* Members of collective.c: messages of the collective under way, by request. */
    struct ddp_collective_request *collective_requests;
    int collective_left; /* how many of collective_requests have not ended */
    uint32_t collective; /* number of the next collective; it makes the messages' tag */
};

/* Return a host sum for w's buffer, not started yet. It borrows w's memory and event. Call
 * ddp_host_sum_set_phase before each start. */
static inline struct ddp_host_sum ddp_host_sum_of(const ddp_work *w)
{
    return (struct ddp_host_sum){.buf = w->buf,
                                 .count = w->count_each ? w->count_each : w->count,
                                 .gathers = w->count_each > 0,
                                 .number = w->number,
                                 .ended = w->ended};
}

/* Set the phase and wire of s, for a start of w, to those of w. An all-gather, also as the second
 * half of a sum, travels as float32. */
static inline void ddp_host_sum_set_phase(struct ddp_host_sum *s, const ddp_work *w)
{
    s->phase = s->gathers ? DDP_ALL_GATHER : w->phase;
    s->wire = s->phase == DDP_ALL_GATHER ? DDP_WIRE_FP32 : w->wire;
}

/* A message of a chunk. Its floats travel in the sum's wire. */
struct ddp_part {
    int peer;
    int phase; /* 0 or 1: messages of one chunk and phase match in the order of posting */
    float *data;
    size_t count;
};

/* Post a message of chunk c as the chunk's request i, below sizes.requests and not under way. The
 * memory at part->data must stay until `advance` is called for the request. Received floats are
 * there then. *part need not stay. Sent bytes are counted in g->traffic. Does not wait. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_part_send(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);
ddp_status ddp_part_recv(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);

static inline ddp_work_phase ddp_chunk_phase(const struct ddp_chunk *c)
{
    return c->sum->phase;
}

/* Return the c->count floats of a rank that are in this chunk of an all-gather. */
static inline float *ddp_chunk_part_of(const struct ddp_chunk *c, int rank)
{
    return c->data + (size_t)rank * c->sum->count;
}

/* A way to sum chunks over ranks. Its own data is ddp_group.algorithm_own. Of its functions only
 * `look` may be NULL. */
struct ddp_allreduce_algorithm {
    /* Return how long chunks are, and how many are in flight at once. */
    ddp_chunks (*chunks)(const ddp_group *g);

    /* Allocate the chunks of *sizes, whose count and window are set, and set sizes->requests. Every
     * rank calls it while no sum is in flight; it may block until all have. On failure close is
     * called. */
    ddp_status (*open)(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
    void (*close)(ddp_group *g);
    /* Return the chunk of a slot, from 0 to sizes->window - 1. */
    struct ddp_chunk *(*chunk)(ddp_group *g, int slot);

    /* Begin to sum a chunk: post its first messages. All of ddp_chunk is set, and ended 0. */
    ddp_status (*launch)(ddp_group *g, struct ddp_chunk *c, ddp_error *err);
    /* Go on after request i of the chunk has ended. */
    ddp_status (*advance)(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err);
    /* If the chunk can go on without an ended request, do so, and set *moved to 1. NULL: never. */
    ddp_status (*look)(ddp_group *g, struct ddp_chunk *c, int *moved, ddp_error *err);

    /* Return the i-th slice that this rank has summed of a chunk of `count` floats, after
     * DDP_REDUCE_SCATTER; it may be empty. *slices becomes how many there are, whatever count is.
     */
    ddp_range (*share)(const ddp_group *g, size_t count, int i, int *slices);

    /* Return the rank that the chunk waits for, if that rank is known to wait for no other; else
     * -1. */
    int (*behind)(const ddp_group *g, const struct ddp_chunk *c);
    /* Return a rank that the chunk waits for, or -1. That rank may itself wait for another. *taking
     * becomes 1 if that rank has not taken a message, 0 if it has not sent one. */
    int (*waits_for)(const ddp_group *g, const struct ddp_chunk *c, int *taking);
};

/* The direct way: every rank exchanges with every other (direct.c). */
extern const struct ddp_allreduce_algorithm ddp_allreduce_direct;

/* The hierarchical way: within hosts in shared memory, between hosts by messages (hierarchical.c).
 * If the ranks of some host cannot share memory, open fails with DDP_ERR_USAGE on every rank. */
extern const struct ddp_allreduce_algorithm ddp_allreduce_hierarchical;

/* Hosts, or blocks of hosts, that a stage of ddp_allreduce_hierarchical brings together. With more,
 * each stage has many small messages; with fewer there are more stages, and each waits for polls.
 */
enum { DDP_HIERARCHICAL_RADIX = 8 };

#endif
