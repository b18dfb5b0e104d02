/* comm/backend.h: what a backend, a transport and a GPU supply. For comm/, transport/ and nccl/
 * alone.
 *
 * A backend opens and closes groups of its kind. Where there are other ranks it also supplies a
 * transport, which carries messages and need not know how to sum, and calls
 * ddp_chunk_pipeline_open. Every member of a table is required, unless its comment says NULL. The
 * files group.c, collectives.c and work.c check arguments, remember a failure and put the context
 * into the error.
 *
 * An engine makes a sum:
 *
 *   host memory          chunk_pipeline.c
 *   the group "solo"     solo.c
 *   a GPU's memory       nccl/sum.c
 *   without NCCL         host and GPU sums share the queue of nccl/staged.c
 *
 * Each engine has a private part in every sum (ddp_work.own), which no other code reads.
 *
 * Transports: MPI (transport/mpi.c), threads of one process in tests (transport/thread.c), and Gloo
 * (transport/gloo.c). Gloo's collectives are not used: their order of summation depends on a ring.
 * Gloo can wait for a message but cannot tell whether it has come. So transport/gloo_peer.cpp has a
 * thread for each peer, which waits for what is under way (transport/gloo_link.h). What Gloo throws
 * becomes an error that names the peer. Ranks meet by MPI or by files (transport/rendezvous.c), and
 * tell each other their host and networks first (transport/peer_addresses.c). */
#ifndef DDP_COMM_BACKEND_H
#define DDP_COMM_BACKEND_H

#include "comm/group_schedule.h"
#include "comm/hierarchical_plan.h"
#include "comm/work.h"

enum { DDP_HOST_BYTES = 256 }; /* bytes of a host name, with the zero at its end */

struct ddp_backend {
    const char *name;           /* the backend's word on the command line: "mpi" */
    ddp_mpi_kind (*kind)(void); /* for "mpi": returns ddp_group_mpi_kind's answer; else NULL */

    /* Meet the other ranks, and fill g, which is as ddp_group_alloc or ddp_group_clear has left
     * it: set own and transport, call ddp_group_set_ranks, write hosts, call
     * ddp_group_set_places and ddp_chunk_pipeline_open. May block until all ranks are there. A
     * failure leaves g as it was. */
    ddp_status (*open)(ddp_group *g, ddp_error *err);
    /* Leave the other ranks, and release what open has filled, by ddp_group_clear. g stays. */
    void (*close)(ddp_group *g);
    /* End the whole job, as ddp_group_abort says. From any thread; exit_status is not 0. */
    void (*abort)(ddp_group *g, int exit_status);
};

/* Functions that make sums and all-gathers of one kind of memory, for work.c. All are required. */
struct ddp_sum_engine {
    /* Open a sum or all-gather. These members of w are set: group, device, buf, count, count_each,
     * wire, number, and the events began and ended, which the engine records. The engine may keep
     * its own data at w->own; close frees them. */
    ddp_status (*open)(ddp_work *w, ddp_error *err);
    void (*close)(ddp_work *w);
    /* Start the sum, or the half of it that w->phase says. count is not 0 and the sum is not in
     * flight; w->behind is set. */
    ddp_status (*start)(ddp_work *w, ddp_error *err);
    /* Return 1 if the sum was started and may not be started again yet. In a GPU's memory that is
     * until its fence or wait, in host memory until it has ended. Else 0. */
    int (*in_flight)(const ddp_work *w);
    /* These four serve ddp_work_done, ddp_work_fence_waits, ddp_work_fence and ddp_work_wait
     * (work.h). The sum was started, if only with count 0. For a fence or wait of a sum in flight
     * w->before is set. */
    int (*done)(const ddp_work *w);
    int (*fence_waits)(const ddp_work *w);
    ddp_status (*fence)(ddp_work *w, ddp_error *err);
    ddp_status (*wait)(ddp_work *w, ddp_error *err);
    /* Return what ddp_work_finite returns: before the first start 1, except in solo.c. */
    int (*finite)(ddp_work *w);
};

/* Functions by which a group uses its rank's GPU (nccl/gpu.c). ddp_group_use_gpu sets g->gpu_ops
 * together with g->gpu. Every member is required. These serve functions of the group:
 *   device, transport, stalled_ns  ddp_group_NAME (group_gpu.h)
 *   schedule                       ddp_group_schedule (group_schedule.h)
 *   progress                       ddp_group_progress (work.h)
 *   settle                         ddp_group_synchronize (group_gpu.h)
 *   alloc, free                    ddp_group_alloc_memory, ddp_group_free_memory (group_gpu.h) */
struct ddp_gpu_ops {
    void (*close)(ddp_group *g); /* releases the GPU and frees g->gpu */
    /* End work on the GPU that waits for other ranks. Its results are of no use. */
    void (*abort)(ddp_group *g);

    ddp_device *(*device)(const ddp_group *g);
    const char *(*transport)(const ddp_group *g);
    const char *(*schedule)(const ddp_group *g); /* returns how the GPU's sums travel, in words;
                                                    NULL: as g->schedule says, or NCCL's way */
    int64_t (*stalled_ns)(const ddp_group *g);

    ddp_status (*progress)(ddp_group *g, ddp_error *err);
    ddp_status (*settle)(ddp_group *g, ddp_error *err);

    float *(*alloc)(ddp_group *g,
                    size_t count); /* returns `count` zeroed floats of the GPU; NULL: no memory */
    void (*free)(ddp_group *g, float *x);

    const struct ddp_sum_engine *sums; /* engine that sums the GPU's memory */
    /* has_shares returns 1 if NCCL cuts halves of these sums in a way of its own. Then `share` does
     * what ddp_work_share does, for a sum of more than one rank. */
    int (*has_shares)(const ddp_group *g);
    ddp_status (*share)(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err);
};

/* One message, as both ends see it. Messages from one rank to another match in
 * the order in which they were posted with the same tag on the same channel. */
struct ddp_message {
    int peer;
    int channel; /* number of the channel, from 0; messages match within a channel */
    int tag;     /* number by which send and receive match, 0 to 32767, as MPI guarantees */
    size_t bytes;
    void *buf; /* bytes to send, or room for what comes; must stay until the request ends */
};

/* Point-to-point messages. A request is a message that was posted and has not ended; the caller
 * gives it a number, which is free again when it has ended. Every function but use_channels returns
 * without waiting. */
struct ddp_transport {
    /* Make room for requests 0 to requests - 1. May be called again while none is in flight. Fails
     * with DDP_ERR_NOMEM, DDP_ERR_COMM. */
    ddp_status (*reserve)(ddp_group *g, int requests, ddp_error *err);
    /* Post a message to m->peer (send) or from it (recv); `request`: a reserved number that is
     * free. *m need not stay. Fails with DDP_ERR_COMM. */
    ddp_status (*send)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    ddp_status (*recv)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    /* Move data. ended[0..*count) become the requests that have ended since the last call; ended
     * has room for all. Fails with DDP_ERR_COMM. */
    ddp_status (*test)(ddp_group *g, int *ended, int *count, ddp_error *err);
    /* Open `channels` channels, 2 or more, in place of one. Every rank calls it once; it may block
     * until all have. NULL: the transport has one channel only. */
    ddp_status (*use_channels)(ddp_group *g, int channels, ddp_error *err);
};

/* A group. Callers keep the pointer, though its ranks may meet anew. Between close and open of its
 * backend the handle is as ddp_group_alloc has made it, except for what its owner has set. */
struct ddp_group {
    /* ---- members of the handle ---- */
    const struct ddp_backend *ops;
    int radix; /* hosts that one stage of a hierarchical sum brings together:
                  DDP_HIERARCHICAL_RADIX, or another in a test */
    int64_t timeout_ns;
    void (*moved)(void *ctx); /* called when messages have moved (ddp_group_on_progress); NULL:
                                 nothing is called */
    void *moved_ctx;

    /* ---- members that depend on its ranks ---- */
    void *own; /* the backend's own data */
    const struct ddp_transport
        *transport; /* carrier of messages; in the group "solo" it and pipeline are NULL */
    struct ddp_chunk_pipeline *pipeline;
    /* How chunks are summed (chunk.h). NULL before the first sum, which then uses
     * ddp_allreduce_direct. */
    const struct ddp_allreduce_algorithm *algorithm;
    void *algorithm_own;
    const struct ddp_sum_engine
        *host_sums; /* engine of sums of host memory: ddp_host_engine, or another */
    int rank;
    int size;
    int local_rank;
    int local_size;
    char (*hosts)[DDP_HOST_BYTES]; /* host name of each rank */
    struct ddp_rank_hosts places;  /* which ranks are on one host */
    char schedule[128];            /* how sums travel, in words: "direct" */
    int hierarchical; /* 1: sums by levels were wanted, or found cheaper (ddp_group_use_schedule) */
    struct ddp_host_memory
        *host_memory;       /* list of memory blocks that this host's ranks share (host_memory.h) */
    uint64_t host_memories; /* how many entries of host_memory were ever made */
    int channels;           /* how many channels sums take turns at */
    unsigned
        sums_started; /* how many sums the transport was given; it says which channel is next */
    ddp_traffic traffic;
    const struct ddp_gpu_ops *gpu_ops;
    struct ddp_gpu *gpu; /* data of gpu_ops; NULL: this rank has no GPU */
    int sums_opened;   /* number of the sum that was opened last; restarts at 1 when none is open */
    int sums_open;     /* how many sums and all-gathers are open */
    ddp_error failure; /* the group's first failure; code DDP_OK: none yet */
};

struct ddp_work {
    ddp_group *group;
    const struct ddp_sum_engine *engine;
    void *own;          /* the engine's own data */
    ddp_device *device; /* device whose memory buf is; the host is one, too */
    ddp_device *behind; /* queue: the sum waits for work queued there before the last start */
    ddp_device *before; /* queue: work queued there after the last fence waits for the sum */
    float *buf;
    size_t count;
    size_t count_each; /* floats of each rank of an all-gather; 0: it is a sum */
    ddp_wire wire;
    ddp_work_phase phase; /* half that was started last; of an all-gather always DDP_ALLREDUCE */
    int number;           /* its number in the order of opening, from 1, for errors */
    int started;          /* 1: it was started at least once */
    ddp_device_event *began, *ended;
};

/* Return the word for errors: "all-gather" if gathers is not 0, else "sum". */
static inline const char *ddp_work_kind(int gathers)
{
    return gathers ? "all-gather" : "sum";
}

/* Allocate a group of this backend, without ranks. *out is set on success; free() it when the
 * backend has closed it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_group_alloc(ddp_group **out, const struct ddp_backend *ops,
                           ddp_error *err) DDP_MUST_CHECK;
/* Allocate a group, and have the backend open it. *out is set on success; release with
 * ddp_group_close. Fails as the backend's open, or with DDP_ERR_NOMEM. */
ddp_status ddp_group_open_with(ddp_group **out, const struct ddp_backend *ops,
                               ddp_error *err) DDP_MUST_CHECK;
/* Set g's rank and size, and make room for host names, which are empty at first. Fails with
 * DDP_ERR_NOMEM; rank and size are set even then. */
ddp_status ddp_group_set_ranks(ddp_group *g, int rank, int size, ddp_error *err) DDP_MUST_CHECK;
/* Say which ranks share a host. first[r]: the lowest rank on rank r's host. The ranks of a
 * host have consecutive numbers. */
void ddp_group_set_places(ddp_group *g, const int *first);
/* Release what g knows of its ranks; its pipeline and GPU must be closed. The handle stays. */
void ddp_group_clear(ddp_group *g);

/* Fail with DDP_ERR_COMM if the group has failed: nothing but closing and aborting works then. */
ddp_status ddp_group_check_alive(const ddp_group *g, ddp_error *err);
/* Return st. If it is DDP_ERR_COMM and g's first failure, keep *err: g then only closes and aborts.
 */
ddp_status ddp_group_keep_failure(ddp_group *g, ddp_status st, const ddp_error *err);
/* If the group has failed, abort what is queued on the GPU and waits for other ranks. Call before
 * something of the group is released, but not as soon as it fails: other ranks would notice, and
 * report this rank's end before this rank has reported why. */
void ddp_group_abort_queued(ddp_group *g);

/* Flush stdout and stderr, and end the process at once with this status. Exit handlers are left
 * out: they are not safe while other threads run. */
void ddp_group_exit(ddp_group *g, int exit_status);

/* Return the interface that ddp_group_use_interface chose; NULL: none. */
const char *ddp_group_interface(void);

/* Write the calling process's host name to name, which has DDP_HOST_BYTES; always ended by 0. */
void ddp_host_name(char *name);

#endif
