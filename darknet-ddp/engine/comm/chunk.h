/* comm/chunk.h: a sum of host memory, its chunks, and those in flight; and the algorithms that sum
 * a chunk over all ranks, of which a group uses one. A chunk of an all-gather is a piece of each
 * rank's part.
 *
 * A chunk is a state machine that ended requests drive, or that looks for itself whether it
 * can go on. chunk_pipeline.c cuts buffers into chunks, has some of them in flight, and polls.
 *
 * What is summed is looked at in the same pass: the sum's `not_finite` becomes 1 where an element
 * is no finite number, on every rank.
 *
 * There are two ways to sum a chunk, of which comm/schedule_cost.c chooses one by a model of their
 * cost.
 *
 * Direct (comm/direct.c): piece r of every rank's chunk goes to rank r, which sums them and sends
 * everybody the sum.
 *
 * Levels (comm/hierarchical.c), also where all ranks are on one host: every rank has its chunk in
 * memory that the ranks of its host share (comm/shared_memory.c), and says so on its board there.
 * Each sums its lane of it over the host's ranks where these have it
 * (hierarchical_sums.c:ddp_hierarchical_sum_lane), exchanges that with its like on other hosts, up
 * to 8 directly and more in stages of 8, and writes the sum where the others have theirs. Gradients
 * themselves lie in shared memory (ddp_group_alloc_memory, comm/host_memory.c) and are not copied;
 * what lies elsewhere, or is small, goes through slots. Which rank sends what to which is worked
 * out once (comm/hierarchical_plan.c). Ranks are numbered host by host, so a host's sum is a branch
 * of the tree, or a few where its ranks are no power of two: what is sent is these branches' sums,
 * and the tree is the same. Boards are polled with messages, so nothing blocks. A board that has
 * not changed tells which rank of this host is late; a message that has not come, or was not taken,
 * tells which rank of another host is.
 */
#ifndef DDP_COMM_CHUNK_H
#define DDP_COMM_CHUNK_H

#include "comm/backend.h"
#include "comm/backoff.h"
#include "comm/chunk_pipeline.h"
#include "comm/chunk_sizes.h"
#include "comm/work.h"

/* A sum, or an all-gather, of host memory: the part of a ddp_work that its engine has
 * (chunk_pipeline.c, nccl/staged.c). buf, count, gathers and number are set, and ended, or NULL;
 * the rest is 0 at first. */
struct ddp_host_sum {
    float *buf;
    size_t count; /* of an all-gather: of each rank */
    int gathers;  /* all-gather: buf has a part of each rank */
    int number;
    ddp_work_phase phase;    /* what is made of it; of an all-gather DDP_ALL_GATHER */
    ddp_wire wire;           /* how that travels */
    int channel;             /* of its last start */
    ddp_device_event *ended; /* set when it has ended */

    int chunks_left; /* 0: ended, or never started */
    int not_finite;  /* an element of the last sum is no finite number */
    size_t launched; /* elements whose chunks have been launched */
    struct ddp_host_sum *next;
};

/* What every algorithm knows of a chunk. */
struct ddp_chunk {
    struct ddp_host_sum *sum; /* NULL: not in use */
    float *data;              /* within the sum's buffer; of an all-gather: rank 0's */
    size_t count;             /* of an all-gather: of each rank */
    uint32_t sequence;        /* number of the chunk in the group: both ends' tag */
    int slot;                 /* sequence modulo the window */
    int first_request;
    int ended; /* it is summed */
};

struct ddp_chunk_sizes {
    size_t count; /* floats of a whole chunk */
    int window;   /* chunks in flight */
    int requests; /* of a chunk, at most */
};

/* Sums under way (chunk_pipeline.c): a group has one. */
struct ddp_chunk_pipeline {
    struct ddp_chunk_sizes sizes;      /* of chunks: all 0 before there is an algorithm */
    struct ddp_host_sum *first, *last; /* sums with chunks to launch */
    uint32_t next_sequence;            /* of the next chunk */
    int chunks_in_flight;
    int *ended;                  /* room for the requests of one test */
    int64_t last_message_ns;     /* when one of ours, in or out, last ended */
    int64_t looked_ns, began_ns; /* a wait's last look at the clock; earlier it did not begin */
    struct ddp_backoff backoff;  /* of waits */

    /* wire_messages.c's: by request. */
    struct ddp_packed *packed;
    int requests;

    /* collective.c's, which begins them: chunk_pipeline.c hears when they end. */
    struct ddp_collective_request *collective_requests;
    int collective_left; /* of them, those that are pending */
    uint32_t collective; /* number of the next one */
};

/* Of w's memory, when it is opened. */
static inline struct ddp_host_sum ddp_host_sum_of(const ddp_work *w)
{
    return (struct ddp_host_sum){.buf = w->buf,
                                 .count = w->count_each ? w->count_each : w->count,
                                 .gathers = w->count_each > 0,
                                 .number = w->number,
                                 .ended = w->ended};
}

/* What is asked for, when it is started: what is gathered travels as it is. */
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

/* Request i of the chunk. What is sent is counted in g->traffic; what comes is in its place when
 * the algorithm hears that the request has ended. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_part_send(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);
ddp_status ddp_part_recv(ddp_group *g, const struct ddp_chunk *c, int i,
                         const struct ddp_part *part, ddp_error *err);

static inline ddp_work_phase ddp_chunk_phase(const struct ddp_chunk *c)
{
    return c->sum->phase;
}

/* Of an all-gather: where the chunk's c->count elements of a rank's part are. */
static inline float *ddp_chunk_part_of(const struct ddp_chunk *c, int rank)
{
    return c->data + (size_t)rank * c->sum->count;
}

/* How chunks are summed; ddp_group.algorithm_own is its own. Every member but look is required. */
struct ddp_allreduce_algorithm {
    /* How long they are, and how many in flight. */
    ddp_chunks (*chunks)(const ddp_group *g);

    /* Called by every rank, while no sum is in flight; may block until all have called it.
     * sizes->requests is to be set, all else is. On failure close is called. */
    ddp_status (*open)(ddp_group *g, struct ddp_chunk_sizes *sizes, ddp_error *err);
    void (*close)(ddp_group *g);
    struct ddp_chunk *(*chunk)(ddp_group *g, int slot);

    /* Post the first messages. All of ddp_chunk is set, and ended 0. */
    ddp_status (*launch)(ddp_group *g, struct ddp_chunk *c, ddp_error *err);
    /* Request first_request + i has ended. */
    ddp_status (*advance)(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err);
    /* Go on, if it can, without a request that ended; *moved is set if it could. NULL: it never
     * can. */
    ddp_status (*look)(ddp_group *g, struct ddp_chunk *c, int *moved, ddp_error *err);

    /* Part i of what this rank has the sum of after DDP_REDUCE_SCATTER of a chunk of `count`, maybe
     * an empty one. *parts: how many there are, the same for every count. */
    ddp_range (*share)(const ddp_group *g, size_t count, int i, int *parts);

    /* Rank that the chunk waits for and that waits for no other, or -1 where that is not known. */
    int (*behind)(const ddp_group *g, const struct ddp_chunk *c);
    /* Rank that the chunk waits for, or -1; *taking is set when it has not taken a message, else it
     * has not sent one. Such a rank may wait for another. */
    int (*waits_for)(const ddp_group *g, const struct ddp_chunk *c, int *taking);
};

/* Every rank with every other (direct.c). */
extern const struct ddp_allreduce_algorithm ddp_allreduce_direct;

/* Within hosts in shared memory, between hosts by messages (hierarchical.c). open fails with
 * DDP_ERR_USAGE where the ranks of some host cannot share memory, on every rank. */
extern const struct ddp_allreduce_algorithm ddp_allreduce_hierarchical;

/* Hosts, or blocks of hosts, that a stage of ddp_allreduce_hierarchical brings together: of more,
 * each round of a chunk's messages is many small ones; of fewer, there are more rounds, and each
 * waits for polls.
 */
enum { DDP_HIERARCHICAL_RADIX = 8 };

#endif
