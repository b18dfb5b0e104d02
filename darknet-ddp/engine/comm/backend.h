/* comm/backend.h: the interfaces behind a process group (comm/group.h), as tables of functions, and
 * the structs of a group and of a sum. For comm/, transport/, nccl/ and tests.
 *
 *   ddp_backend     a kind of groups: solo, mpi, gloo, thread (for tests)
 *   ddp_transport   carries messages between ranks and knows nothing of sums; the group "solo" has
 *                   none (transport/mpi.c, gloo.c and thread.c)
 *   ddp_sum_engine  makes the sums and all-gathers of one kind of memory: chunk_pipeline.c for host
 *                   memory, solo.c for that of "solo", nccl/sum.c for a GPU's memory; nccl/staged.c
 *                   for host memory if a GPU's sums go through it
 *   ddp_gpu_ops     uses a rank's GPU (nccl/gpu.c)
 *
 * Every member of these tables is required, unless its comment allows NULL. */
#ifndef DDP_COMM_BACKEND_H
#define DDP_COMM_BACKEND_H

#include "comm/group_schedule.h"
#include "comm/hierarchical_plan.h"
#include "comm/work.h"

enum { DDP_HOST_BYTES = 256 }; /* bytes of a host name, with the zero at its end */

/* A kind of process group. */
struct ddp_backend {
    const char *name;           /* name on the command line: "mpi" */
    ddp_mpi_kind (*kind)(void); /* serves ddp_group_mpi_kind; NULL in every backend but "mpi" */

    /* Connect this rank with the others, and fill g, which has no ranks yet: call
     * ddp_group_set_ranks, write g->hosts, call ddp_group_set_places. All but "solo" also set
     * g->own and g->transport before, and call ddp_chunk_pipeline_open after. May block until all
     * ranks are there. Fails as ddp_group_open; then g has no ranks. */
    ddp_status (*open)(ddp_group *g, ddp_error *err);
    /* Disconnect from the other ranks, waiting as ddp_group_close says, and release all that open
     * has filled. Calls ddp_group_clear. Does not free g. */
    void (*close)(ddp_group *g);
    /* End this process, and so the job, for ddp_group_abort. Returns only if ranks are threads.
     * From any thread; exit_status is not 0. */
    void (*abort)(ddp_group *g, int exit_status);
};

/* An engine: functions that make the sums and all-gathers of one kind of memory. Only comm/work.c
 * calls them. In these comments a sum may also be an all-gather. Errors are those of work.h. */
struct ddp_sum_engine {
    /* Prepare a sum. The caller has set group, device, buf, count, count_each, wire, number, began
     * and ended of w. The engine records began and ended; in a group of one rank it need not.
     * It may keep its own data at w->own. On failure it keeps nothing, and close is not called. */
    ddp_status (*open)(ddp_work *w, ddp_error *err);
    void (*close)(ddp_work *w); /* frees w->own */
    /* Start the sum, or if w->phase says so half of it: its reduce-scatter or its all-gather. It
     * begins when the work that is on the queue w->behind has ended. The count is not 0, and the
     * sum is not in flight. */
    ddp_status (*start)(ddp_work *w, ddp_error *err);
    /* Return 1 from a start until the sum may be started again, else 0. On a GPU that is until its
     * fence or wait, on the host until it has ended. */
    int (*in_flight)(const ddp_work *w);
    /* The members done to share do what the functions ddp_work_done to ddp_work_share (work.h) say.
     * A call of done, fence or wait comes only after a ddp_work_start, which does not call start
     * for a count of 0. If the sum is in flight, w->before is set for fence and wait. */
    int (*done)(const ddp_work *w);
    int (*fence_blocks)(const ddp_work *w);
    ddp_status (*fence)(ddp_work *w, ddp_error *err);
    ddp_status (*wait)(ddp_work *w, ddp_error *err);
    int (*finite)(ddp_work *w);
    ddp_status (*share)(const ddp_work *w, ddp_range **ranges, size_t *count, ddp_error *err);
};

/* Functions by which a group uses its rank's GPU. ddp_group_use_gpu sets g->gpu_ops and g->gpu. The
 * members device, transport, stalled_ns, progress and synchronize do, for the GPU, what the
 * functions ddp_group_NAME promise. */
struct ddp_gpu_ops {
    void (*close)(ddp_group *g); /* releases the GPU and frees g->gpu */
    void (*abort)(ddp_group *g); /* gives up work on the GPU that waits for other ranks */

    ddp_device *(*device)(const ddp_group *g);
    const char *(*transport)(const ddp_group *g);
    /* Return ddp_group_schedule's text for sums by NCCL; NULL if NCCL orders them itself. */
    const char *(*schedule)(const ddp_group *g);
    int64_t (*stalled_ns)(const ddp_group *g);
    ddp_status (*progress)(ddp_group *g, ddp_error *err);
    ddp_status (*synchronize)(ddp_group *g, ddp_error *err);

    /* Return `count` zeroed floats of the GPU for ddp_group_alloc_memory; NULL: no memory. */
    float *(*alloc)(ddp_group *g, size_t count);
    void (*free)(ddp_group *g, float *x); /* frees memory of alloc */

    const struct ddp_sum_engine *sums; /* engine that sums the GPU's memory */
};

/* A message, as its sender or its receiver posts it. Messages between two ranks with the same tag
 * on the same channel match in the order in which they were posted. If two that match differ in
 * bytes, a function of the receiver's transport fails with DDP_ERR_COMM. */
struct ddp_message {
    int peer;     /* the other rank */
    int channel;  /* number of the channel, from 0 */
    int tag;      /* 0 to 32767, the range that MPI guarantees */
    size_t bytes; /* 0 to INT_MAX, the range of MPI's counts */
    void *buf; /* data to send, or room for the data that comes; must stay until the request ends */
};

/* Sends and receives messages. A posted message is a request until it has ended. The caller numbers
 * the requests, and may use a number again when its request has ended. No function waits, except
 * use_channels and, for some seconds, one that fails. */
struct ddp_transport {
    /* Make room for requests 0 to requests - 1. May be called again while no request is in flight.
     * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
    ddp_status (*reserve)(ddp_group *g, int requests, ddp_error *err);
    /* Post message *m to rank m->peer (send) or from it (recv). `request`: a reserved number that
     * is free. *m need not stay. Fails with DDP_ERR_COMM. */
    ddp_status (*send)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    ddp_status (*recv)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    /* Move data, and write to ended[0..*count) the numbers of the requests that have ended since
     * the last call. `ended` has room for all requests. Fails with DDP_ERR_COMM. */
    ddp_status (*test)(ddp_group *g, int *ended, int *count, ddp_error *err);
    /* Use `channels` channels, 2 or more, in place of the one so far. Every rank calls this once;
     * may block until all have. Fails with DDP_ERR_COMM. NULL: the transport has one channel. */
    ddp_status (*use_channels)(ddp_group *g, int channels, ddp_error *err);
};

/* A process group. Its backend can close it and open it again while callers keep the pointer. The
 * first members outlive that; ddp_group_clear sets all others to 0. */
struct ddp_group {
    /* ---- kept by ddp_group_clear ---- */
    const struct ddp_backend *ops;
    int radix; /* how many hosts meet in a stage of hierarchical sums (hierarchical_plan.h) */
    int64_t timeout_ns;       /* timeout of ddp_group_set_timeout; 0: none */
    void (*moved)(void *ctx); /* function of ddp_group_on_progress; NULL: none */
    void *moved_ctx;

    /* ---- set to 0 by ddp_group_clear ---- */
    void *own;                             /* the backend's own data */
    const struct ddp_transport *transport; /* NULL in the group "solo" */
    struct ddp_chunk_pipeline *pipeline;   /* sums of host memory; NULL in the group "solo" */
    const struct ddp_allreduce_algorithm *algorithm; /* sums host memory; NULL: none chosen yet */
    void *algorithm_own;                             /* data of `algorithm` */
    const struct ddp_sum_engine *host_sums;          /* engine that sums host memory */
    int rank;
    int size;
    int local_rank;
    int local_size;
    char (*hosts)[DDP_HOST_BYTES]; /* host name of each rank */
    struct ddp_rank_hosts places;  /* the ranks of each host */
    char schedule[128];            /* how sums of host memory travel, in words: "direct" */
    /* 1: ddp_group_use_schedule chose hierarchical sums, also if this host's ranks share no
     * memory */
    int wants_hierarchical;
    struct ddp_host_memory *host_memory; /* list of memory that this host's ranks share */
    uint64_t host_memory_count; /* entries ever added to host_memory, also those freed since */
    int channels;               /* number of channels (comm/group_schedule.h) */
    int next_channel;           /* channel of the next sum of host memory */
    ddp_traffic traffic;
    const struct ddp_gpu_ops *gpu_ops;
    struct ddp_gpu *gpu; /* data of gpu_ops; NULL: this rank has no GPU */
    int last_number;     /* number of the sum that was opened last (ddp_work.number) */
    int open_count;      /* number of sums and all-gathers that are opened and not closed */
    ddp_error failure;   /* the group's first failure; code DDP_OK: none yet */
};

/* A sum or an all-gather. */
struct ddp_work {
    ddp_group *group;
    const struct ddp_sum_engine *engine;
    void *own;          /* the engine's own data */
    ddp_device *device; /* device that has buf: the host or ddp_group_device */
    ddp_device *behind; /* device or queue: the sum waits for work that was queued there before */
    ddp_device *before; /* device or queue: work queued there after the fence waits for the sum */
    float *buf;
    size_t count;      /* floats of buf */
    size_t count_each; /* floats of each rank in an all-gather; 0: it is a sum */
    ddp_wire wire;
    ddp_work_phase phase; /* phase that was started last; in an all-gather always DDP_ALLREDUCE */
    /* number in errors: 1 if no sum or all-gather was open before, else one more than the last */
    int number;
    int started; /* 1: started at least once */
    ddp_device_event *began, *ended;
};

/* Return "all-gather" if gathers is not 0, else "sum": the word for errors. */
static inline const char *ddp_work_kind(int gathers)
{
    return gathers ? "all-gather" : "sum";
}

/* Allocate a group of this backend that has no ranks yet. *out is set on success. The caller frees
 * it with free() when the backend has closed it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_group_alloc(ddp_group **out, const struct ddp_backend *ops,
                           ddp_error *err) DDP_MUST_CHECK;
/* Allocate a group, and open it by this backend. *out is set on success; release it with
 * ddp_group_close. Fails with DDP_ERR_NOMEM, or as ops->open. */
ddp_status ddp_group_open_with(ddp_group **out, const struct ddp_backend *ops,
                               ddp_error *err) DDP_MUST_CHECK;
/* Set g's rank and size, set host_sums, channels and schedule to their defaults, and allocate
 * g->hosts, whose names are empty. Fails with DDP_ERR_NOMEM; rank and size are set even then.
 * Release g with ddp_group_clear, also after a failure. */
ddp_status ddp_group_set_ranks(ddp_group *g, int rank, int size, ddp_error *err) DDP_MUST_CHECK;
/* Set which ranks share a host, after ddp_group_set_ranks. first[r], r below g->size: the lowest
 * rank on rank r's host. The ranks of a host must have consecutive numbers. */
void ddp_group_set_places(ddp_group *g, const int *first);
/* Free what g knows of its ranks, but not g. Call after its pipeline and its GPU were closed. */
void ddp_group_clear(ddp_group *g);

/* Fail with DDP_ERR_COMM if the group has failed before: it can then only be closed or aborted. */
ddp_status ddp_group_check_alive(const ddp_group *g, ddp_error *err);
/* Return st. If st is DDP_ERR_COMM and g has not failed before, store *err as g's failure. */
ddp_status ddp_group_keep_failure(ddp_group *g, ddp_status st, const ddp_error *err);
/* If the group has failed, give up the work on the GPU that waits for other ranks. Call just before
 * memory or a sum of the group is freed, which would wait for that work. Report this rank's error
 * first: other ranks notice the call, and fail too. */
void ddp_group_abort_queued(ddp_group *g);

/* End the process at once with this status, after flushing stdout and stderr. Exit handlers do not
 * run, since they are not safe while other threads run. */
void ddp_group_exit(ddp_group *g, int exit_status);

/* Return the interface or network that ddp_group_use_interface chose, as text; NULL: none. */
const char *ddp_group_interface(void);

/* Write this host's name to name[0..DDP_HOST_BYTES), with a zero at its end; "unknown" if the
 * system does not tell it. */
void ddp_host_name(char *name);

#endif
