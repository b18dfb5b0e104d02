/* comm/backend.h: what a backend and a transport supply. Included by comm/ alone.
 *
 * group.c checks every argument, remembers a failure and puts the context into
 * the error; a backend only moves data. Every member is required.
 *
 * A backend whose messages pass through host memory need not know how to sum:
 * it supplies a transport, and takes its sums and collectives from exchange.h.
 */
#ifndef DDP_COMM_BACKEND_H
#define DDP_COMM_BACKEND_H

#include "comm/group.h"

enum { DDP_HOST_BYTES = 256 };

struct ddp_backend {
    const char *name; /* as written on the command line */

    /* Allocate a struct that begins with struct ddp_group, and fill it. */
    ddp_status (*open)(ddp_group **out, ddp_error *err);
    void (*close)(ddp_group *g);
    /* From any thread; exit_status is not 0. */
    void (*abort)(ddp_group *g, int exit_status);

    /* a->group, buf and count are set. A backend may hang its own state on
     * a->native in open; close frees it. a->began and a->ended are group.c's, but progress or
     * wait set the second when the sum has ended. */
    ddp_status (*allreduce_open)(ddp_allreduce *a, ddp_error *err);
    void (*allreduce_close)(ddp_allreduce *a);
    /* count is not 0 and the sum is not in flight. progress or wait make
     * a->chunks_left 0 when the sum has ended. */
    ddp_status (*allreduce_start)(ddp_allreduce *a, ddp_error *err);
    ddp_status (*allreduce_wait)(ddp_allreduce *a, ddp_error *err);
    ddp_status (*progress)(ddp_group *g, ddp_error *err);

    /* Blocking; called with size > 1 alone. bytes may be 0 in allgather, which
     * is then a barrier. */
    ddp_status (*broadcast)(ddp_group *g, void *buf, size_t bytes, int root, ddp_error *err);
    ddp_status (*allgather)(ddp_group *g, const void *mine, void *all, size_t bytes,
                            ddp_error *err);
};

/* One message, as both ends see it. Messages from one rank to another match in
 * the order in which they were posted with the same tag. */
struct ddp_message {
    int peer;
    int tag; /* 0 to 32767, what MPI guarantees */
    size_t bytes;
    void *buf; /* read by send, written by recv; stable until the request ends */
};

/* Point-to-point messages. Requests are numbered by the caller, from 0 to the
 * number given to reserve; one that has not ended is not used again. */
struct ddp_transport {
    ddp_status (*reserve)(ddp_group *g, int requests, ddp_error *err);
    ddp_status (*send)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    ddp_status (*recv)(ddp_group *g, int request, const struct ddp_message *m, ddp_error *err);
    /* Move data without waiting. ended[0..*count) are the requests that ended;
     * ended has room for all. */
    ddp_status (*test)(ddp_group *g, int *ended, int *count, ddp_error *err);
};

struct ddp_group {
    const struct ddp_backend *ops;
    const struct ddp_transport *transport; /* NULL: exchange.h is not used */
    struct ddp_exchange *exchange;
    int rank;
    int size;
    int local_rank;
    int local_size;
    char (*hosts)[DDP_HOST_BYTES]; /* one for each rank; freed by group.c */
    struct ddp_gpu *gpu;           /* NULL: this rank has none */
    int64_t timeout_ns;
    int sums_opened; /* since there was none */
    int sums_open;
    ddp_error failure; /* code DDP_OK while the group works */
};

struct ddp_allreduce {
    ddp_group *group;
    float *buf;
    size_t count;
    int number;      /* from 1, in the order of opening */
    int started;     /* a wait is due or done */
    int chunks_left; /* 0: ended, or never started */
    size_t launched; /* elements whose chunks have been launched */
    struct ddp_allreduce *next;
    void *native;

    ddp_mark *began, *ended;

    int on_gpu;  /* buf is the GPU's (comm/gpu.h) */
    int put_off; /* started, and behind others in a queue (comm/staged.c) */
    struct ddp_allreduce *next_put_off;
};

extern const struct ddp_backend ddp_backend_solo;
#ifdef DDP_WITH_MPI
extern const struct ddp_backend ddp_backend_mpi;
#endif

/* The parts of a group that every backend has: size and host names. *out is the
 * start of `bytes` zeroed bytes. */
ddp_status ddp_group_alloc(ddp_group **out, size_t bytes, int rank, int size, ddp_error *err);
void ddp_group_free(ddp_group *g);

/* Flush what has been printed and end the process at once, without the exit
 * handlers, which are not safe while other threads run. */
void ddp_group_exit(ddp_group *g, int exit_status);

/* The calling process's host name, always ended. */
void ddp_host_name(char *name);

#endif
