/* comm/backend.h: what a backend, a transport and a GPU supply. For comm/, transport/ and nccl/
 * alone.
 *
 * A backend opens and closes groups of its kind. Where there are other ranks it also supplies a
 * transport, which carries messages and need not know how to sum, and calls
 * ddp_chunk_pipeline_open. Every member of a table is required. group.c, collectives.c, and work.c
 * for sums, check every argument, remember a failure and put the context into the error.
 *
 * An engine makes a sum:
 *
 *   host memory          chunk_pipeline.c
 *   one rank             solo.c
 *   a GPU's memory       nccl/sum.c
 *   without NCCL         host and GPU sums share the queue of nccl/staged.c
 *
 * Each engine has a private part in every sum (ddp_work.own), which no other code reads.
 *
 * Transports: MPI (transport/mpi.c), threads of one process in tests (transport/thread.c), and Gloo
 * (transport/gloo.c). Gloo's collectives are not used: their order of summation depends on a ring.
 * Gloo can wait for a message but cannot tell whether it has come. So transport/gloo_peer.cpp has a
 * thread for each peer, which waits for what is under way; its head says how. What Gloo throws
 * becomes an error that names the peer. Ranks meet by MPI or by files (transport/rendezvous.c), and
 * tell each other their host and networks first (transport/peer_addresses.c).
 */
#ifndef DDP_COMM_BACKEND_H
#define DDP_COMM_BACKEND_H

#include "comm/group_schedule.h"
#include "comm/hierarchical_plan.h"
#include "comm/work.h"

enum { DDP_HOST_BYTES = 256 };

struct ddp_backend {
    const char *name;           /* the word of the command line */
    ddp_mpi_kind (*kind)(void); /* ddp_group_mpi_kind, for "mpi"; else NULL */

    /* Meet the other ranks and fill g, which ddp_group_alloc or ddp_group_clear has left: own,
     * transport, ddp_group_set_ranks, hosts, ddp_group_set_places, ddp_chunk_pipeline_open. A
     * failure leaves g as it was. */
    ddp_status (*open)(ddp_group *g, ddp_error *err);
    /* Leave the other ranks, and release what open has filled. The handle g stays:
     * ddp_group_clear. */
    void (*close)(ddp_group *g);
    /* From any thread; exit_status is not 0. */
    void (*abort)(ddp_group *g, int exit_status);
};

/* Sums of one kind of memory. Every member is required. */
struct ddp_sum_engine {
    /* w->group, device, buf, count, wire, number, began and ended are set; the engine sets these
     * two events. open may hang its part on w->own; close frees it. */
    ddp_status (*open)(ddp_work *w, ddp_error *err);
    void (*close)(ddp_work *w);
    /* count is not 0 and the sum is not in flight; w->behind is set. */
    ddp_status (*start)(ddp_work *w, ddp_error *err);
    /* Does the memory belong to the sum, so that a fence is due? */
    int (*in_flight)(const ddp_work *w);
    /* Do what work.h says of ddp_work_done, fence_waits, fence and wait. The sum was started, or
     * has count 0; w->before is set for a fence and a wait. */
    int (*done)(const ddp_work *w);
    int (*fence_waits)(const ddp_work *w);
    ddp_status (*fence)(ddp_work *w, ddp_error *err);
    ddp_status (*wait)(ddp_work *w, ddp_error *err);
    int (*finite)(ddp_work *w); /* ddp_work_finite; 1 before the first start */
};

/* A rank's GPU, as the group calls it; the functions are in nccl/gpu.c. ddp_group_use_gpu sets
 * g->gpu_ops together with g->gpu. Every member is required. These serve functions of the group:
 *   device, transport, stalled_ns  ddp_group_NAME (group_gpu.h)
 *   schedule                       ddp_group_schedule (group_schedule.h)
 *   progress                       ddp_group_progress (work.h)
 *   settle                         ddp_group_synchronize (group_gpu.h)
 *   alloc, free                    ddp_group_alloc_memory, ddp_group_free_memory (group_gpu.h) */
struct ddp_gpu_ops {
    void (*close)(ddp_group *g);
    /* End the work that is queued on the GPU and waits for other ranks, in whatever way. */
    void (*abort)(ddp_group *g);

    ddp_device *(*device)(const ddp_group *g);
    const char *(*transport)(const ddp_group *g);
    const char *(*schedule)(const ddp_group *g); /* NULL: none of its own */
    int64_t (*stalled_ns)(const ddp_group *g);

    ddp_status (*progress)(ddp_group *g, ddp_error *err);
    ddp_status (*settle)(ddp_group *g, ddp_error *err);

    float *(*alloc)(ddp_group *g, size_t count); /* NULL: no memory */
    void (*free)(ddp_group *g, float *x);

    const struct ddp_sum_engine *sums; /* that sums the GPU's memory */
    /* has_shares: return 1 if these sums are cut in a way of their own. Then share does what
     * ddp_work_share does, for a sum that more than one rank makes. */
    int (*has_shares)(const ddp_group *g);
    ddp_status (*share)(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err);
};

/* One message, as both ends see it. Messages from one rank to another match in
 * the order in which they were posted with the same tag on the same channel. */
struct ddp_message {
    int peer;
    int channel; /* messages of one never match another's; 0 but for use_channels */
    int tag;     /* 0 to 32767, what MPI guarantees */
    size_t bytes;
    void *buf; /* read by send, written by recv; stable until the request ends */
};

/* Point-to-point messages. The caller numbers requests, from 0 to the number given to reserve,
 * which may be called again while none is in flight. A request that has not ended is not used
 * again. */
struct ddp_transport {
    ddp_status (*reserve)(ddp_group *g, int requests, ddp_error *err);
    ddp_status (*send)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    ddp_status (*recv)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    /* Move data without waiting. ended[0..*count) are the requests that ended;
     * ended has room for all. */
    ddp_status (*test)(ddp_group *g, int *ended, int *count, ddp_error *err);
    /* Have so many channels, 2 or more. Every rank calls it once; it may block until all have.
     * NULL: there is but one. */
    ddp_status (*use_channels)(ddp_group *g, int channels, ddp_error *err);
};

/* A handle, of which others keep the pointer. Between close and open of its backend it is as
 * ddp_group_alloc has made it, but for what its owner has set: so ranks may meet anew behind it. */
struct ddp_group {
    /* ---- of the handle ---- */
    const struct ddp_backend *ops;
    int radix; /* DDP_HIERARCHICAL_RADIX, or another in a test */
    int64_t timeout_ns;
    void (*moved)(void *ctx); /* NULL: nobody wants to hear */
    void *moved_ctx;

    /* ---- of its ranks ---- */
    void *own;                             /* the backend's */
    const struct ddp_transport *transport; /* NULL, as pipeline: one rank, and no messages */
    struct ddp_chunk_pipeline *pipeline;
    /* How chunks are summed (chunk.h); NULL before the first sum, which takes the direct one. */
    const struct ddp_allreduce_algorithm *algorithm;
    void *algorithm_own;
    const struct ddp_sum_engine *host_sums; /* ddp_host_engine, or another */
    int rank;
    int size;
    int local_rank;
    int local_size;
    char (*hosts)[DDP_HOST_BYTES];       /* one for each rank */
    struct ddp_rank_hosts places;        /* which ranks are on one host */
    char schedule[128];                  /* for people */
    int hierarchical;                    /* was it wanted, or found to pay? */
    struct ddp_host_memory *host_memory; /* shared with the ranks of this host (host_memory.h) */
    uint64_t host_memories;              /* made so far */
    int channels;                        /* that sums take turns at */
    unsigned sums_started;               /* by the transport: whose turn it is */
    ddp_traffic traffic;
    const struct ddp_gpu_ops *gpu_ops;
    struct ddp_gpu *gpu; /* theirs; NULL: this rank has no GPU */
    int sums_opened;     /* since there was none */
    int sums_open;
    ddp_error failure; /* code DDP_OK while the group works */
};

struct ddp_work {
    ddp_group *group;
    const struct ddp_sum_engine *engine;
    void *own;          /* the engine's */
    ddp_device *device; /* whose memory buf is; the host is one, too */
    ddp_device *behind; /* whose work so far the sum that was started last comes behind */
    ddp_device *before; /* whose work it comes before, from its fence on */
    float *buf;
    size_t count;
    size_t count_each; /* floats of each rank of an all-gather; 0: it is a sum */
    ddp_wire wire;
    ddp_work_phase phase; /* that was started last; of an all-gather always DDP_ALLREDUCE */
    int number;           /* from 1, in the order of opening */
    int started;          /* once, or more often */
    ddp_device_event *began, *ended;
};

/* In errors. */
static inline const char *ddp_work_kind(int gathers)
{
    return gathers ? "all-gather" : "sum";
}

/* Allocate a handle for groups of this backend, without ranks. *out is set on success; free it when
 * the backend has closed it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_group_alloc(ddp_group **out, const struct ddp_backend *ops,
                           ddp_error *err) DDP_MUST_CHECK;
/* Allocate a handle, and have the backend open it. *out is set on success; release with
 * ddp_group_close. Fails as ddp_group_open. */
ddp_status ddp_group_open_with(ddp_group **out, const struct ddp_backend *ops,
                               ddp_error *err) DDP_MUST_CHECK;
/* Give g its ranks, with host names that are still empty. Fails with DDP_ERR_NOMEM; rank and size
 * are set even then. */
ddp_status ddp_group_set_ranks(ddp_group *g, int rank, int size, ddp_error *err) DDP_MUST_CHECK;
/* Say which ranks share a host. first[r]: the lowest rank on rank r's host. Ranks of a host stand
 * side by side. */
void ddp_group_set_places(ddp_group *g, const int *first);
/* Release the ranks of g, whose pipeline and GPU are closed. The handle stays. */
void ddp_group_clear(ddp_group *g);

/* Fail with DDP_ERR_COMM if the group has failed: nothing but closing and aborting works then. */
ddp_status ddp_group_check_alive(const ddp_group *g, ddp_error *err);
/* Return st, and remember it if it is the group's first failure: a later one would only hide it. */
ddp_status ddp_group_keep_failure(ddp_group *g, ddp_status st, const ddp_error *err);
/* If the group has failed, abort what is queued on the GPU and waits for other ranks. Call before
 * something of the group is released, and not when it fails: the others would notice, and report it
 * before this rank has reported why. */
void ddp_group_abort_queued(ddp_group *g);

/* Flush what has been printed, and end the process at once. Exit handlers are left out: they are
 * not safe while other threads run. */
void ddp_group_exit(ddp_group *g, int exit_status);

/* Return what ddp_group_use_interface was told; NULL: nothing. */
const char *ddp_group_interface(void);

/* Write the calling process's host name, always ended. */
void ddp_host_name(char *name);

#endif
