/* comm/chunk.h: a sum of host memory, its chunks, and those in flight; and the algorithms that sum
 * a chunk over all ranks, of which a group uses one. A chunk of an all-gather is a piece of each
 * rank's part.
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
 * its lane of it over the host's ranks, in place. It exchanges slices of that with its like on
 * other hosts, up to 8 directly and more in stages of 8. Then it writes the sum where the others of
 * its host have theirs. The plan (comm/hierarchical_plan.h) says which rank sends what to which.
 * Gradients lie in shared memory (ddp_group_alloc_memory) and are not copied. Other memory, and
 * small sums, go through slots. Boards are polled with messages, so nothing blocks. A board that
 * has not changed tells which rank of this host is late; a message that is missing tells which rank
 * of another is.
 */
#ifndef DDP_COMM_CHUNK_H
#define DDP_COMM_CHUNK_H

#include "comm/backend.h"
#include "comm/backoff.h"
#include "comm/chunk_pipeline.h"
#include "comm/chunk_sizes.h"
#include "comm/work.h"

/* A sum, or an all-gather, of host memory: its engine's private part of a ddp_work
 * (chunk_pipeline.c, nccl/staged.c). The opener sets buf, count, gathers, number and ended; the
 * rest is 0 at first. */
struct ddp_host_sum {
    float *buf;
    size_t count; /* floats; in an all-gather: those of one rank */
    int gathers;  /* 1: an all-gather, buf has count floats of each rank */
    int number;
    ddp_work_phase phase;    /* set at each start; for an all-gather DDP_ALL_GATHER */
    ddp_wire wire;           /* set at each start: how it travels */
    int channel;             /* set at each start */
    ddp_device_event *ended; /* set when it has ended; NULL: there is none */

    int chunks_left; /* 0: ended, or never started */
    int not_finite;  /* 1: the last sum has a number that is not finite */
    size_t launched; /* floats whose chunks have been launched */
    struct ddp_host_sum *next;
};

/* The part of a chunk that every algorithm knows. */
struct ddp_chunk {
    struct ddp_host_sum *sum; /* NULL: not in use */
    float *data;              /* within the sum's buffer; in an all-gather: rank 0's */
    size_t count;             /* floats; in an all-gather: those of one rank */
    uint32_t sequence;        /* number of the chunk in the group: both ends' tag */
    int slot;                 /* sequence modulo the window */
    int first_request;
    int ended; /* 1: it is summed */
};

struct ddp_chunk_sizes {
    size_t count; /* floats of a whole chunk */
    int window;   /* chunks in flight */
    int requests; /* that one chunk needs, at most */
};

/* Sums under way (chunk_pipeline.c): a group has one. */
struct ddp_chunk_pipeline {
    struct ddp_chunk_sizes sizes;      /* all 0 before there is an algorithm */
    struct ddp_host_sum *first, *last; /* sums with chunks to launch */
    uint32_t next_sequence;            /* the next chunk's number */
    int chunks_in_flight;
    int *ended;                  /* room for the requests of one test */
    int64_t last_message_ns;     /* when one of ours, in or out, last ended */
    int64_t looked_ns, began_ns; /* a wait's last look at the clock; earlier it did not begin */
    struct ddp_backoff backoff;  /* between polls of a wait */

    /* wire_messages.c's: by request. */
    struct ddp_packed *packed;
    int requests;

    /* collective.c's, which begins them: chunk_pipeline.c hears when they end. */
    struct ddp_collective_request *collective_requests;
    int collective_left; /* how many of these are pending */
    uint32_t collective; /* number of the next one */
};

/* Return the host sum for w's buffer. It borrows w's memory and event. Phase and wire are set at
 * each start, by ddp_host_sum_set_phase. */
static inline struct ddp_host_sum ddp_host_sum_of(const ddp_work *w)
{
    return (struct ddp_host_sum){.buf = w->buf,
                                 .count = w->count_each ? w->count_each : w->count,
                                 .gathers = w->count_each > 0,
                                 .number = w->number,
                                 .ended = w->ended};
}

/* Set the phase and wire that w is started with. Gathered floats travel as they are. */
static inline void ddp_host_sum_set_phase(struct ddp_host_sum *s, const ddp_work *w)
{
    s->phase = s->gathers ? DDP_ALL_GATHER : w->phase;
    s->wire = s->phase == DDP_ALL_GATHER ? DDP_WIRE_FP32 : w->wire;
}

/* A message of a chunk: floats, which travel as the chunk's sum says. */
struct ddp_part {
    int peer;
    int phase; /* 0 or 1: messages of a chunk match by it, and by their order */
    float *data;
    size_t count;
};

/* Post a message of chunk c as its request i. part->data must stay until the algorithm hears that
 * the request has ended. Received floats are there then. *part need not stay. Sent bytes are
 * counted in g->traffic. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_part_send(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);
ddp_status ddp_part_recv(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);

static inline ddp_work_phase ddp_chunk_phase(const struct ddp_chunk *c)
{
    return c->sum->phase;
}

/* In an all-gather: return the chunk's c->count floats of a rank. */
static inline float *ddp_chunk_part_of(const struct ddp_chunk *c, int rank)
{
    return c->data + (size_t)rank * c->sum->count;
}

/* How chunks are summed; ddp_group.algorithm_own is its own. Every member but look is required. */
struct ddp_allreduce_algorithm {
    /* Return how long chunks are, and how many are in flight. */
    ddp_chunks (*chunks)(const ddp_group *g);

    /* Allocate the chunks. Every rank calls it while no sum is in flight; it may block until all
     * have. Sets sizes->requests; the rest of sizes is set. On failure close is called. */
    ddp_status (*open)(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
    void (*close)(ddp_group *g);
    struct ddp_chunk *(*chunk)(ddp_group *g, int slot);

    /* Post the first messages. All of ddp_chunk is set, and ended 0. */
    ddp_status (*launch)(ddp_group *g, struct ddp_chunk *c, ddp_error *err);
    /* Request first_request + i has ended. */
    ddp_status (*advance)(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err);
    /* Go on, if it can, without a request that ended, and set *moved if it could. NULL: it never
     * can. */
    ddp_status (*look)(ddp_group *g, struct ddp_chunk *c, int *moved, ddp_error *err);

    /* Return slice i, maybe an empty one, of those that this rank has the sum of after
     * DDP_REDUCE_SCATTER of a chunk of `count`. *slices: how many, the same for every count. */
    ddp_range (*share)(const ddp_group *g, size_t count, int i, int *slices);

    /* Return the rank that the chunk waits for and that waits for no other; -1: not known. */
    int (*behind)(const ddp_group *g, const struct ddp_chunk *c);
    /* Return a rank that the chunk waits for, or -1. It may wait for another. *taking: 1, it has
     * not taken a message; 0, it has not sent one. */
    int (*waits_for)(const ddp_group *g, const struct ddp_chunk *c, int *taking);
};

/* Every rank with every other (direct.c). */
extern const struct ddp_allreduce_algorithm ddp_allreduce_direct;

/* Within hosts in shared memory, between hosts by messages (hierarchical.c). open fails with
 * DDP_ERR_USAGE where the ranks of some host cannot share memory, on every rank. */
extern const struct ddp_allreduce_algorithm ddp_allreduce_hierarchical;

/* How many hosts, or blocks of hosts, a stage of ddp_allreduce_hierarchical brings together. With
 * more, each stage has many small messages; with fewer there are more stages, and each waits for
 * polls. */
enum { DDP_HIERARCHICAL_RADIX = 8 };

#endif
