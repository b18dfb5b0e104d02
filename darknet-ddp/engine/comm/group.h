/* comm/group.h: a process group, the only way this project talks to peers.
 *
 * A group is `size` ranks, numbered 0 to size-1, that make the same calls in
 * the same order. Order is the whole contract: if rank 0 starts bucket 3 before
 * bucket 2 and rank 1 does not, the run hangs or mixes gradients. If a rank
 * fails before a call, as for lack of memory, its program must end the job (ddp_group_abort). So no
 * other rank waits for it.
 *
 * What ranks do together: sums and all-gathers (comm/work.h), which are
 * started and travel while the program computes, and collectives that block (comm/collectives.h).
 * How sums travel is told by comm/group_schedule.h; a rank's GPU is given by comm/group_gpu.h.
 *
 * Words used in these headers
 *   count    a number of float32 elements, never of bytes
 *   buf      host memory, but where a device is named
 *   started  the call has returned; buf belongs to the group until the fence or wait
 *
 * A group belongs to one thread. After DDP_ERR_COMM only ddp_group_close and
 * ddp_group_abort work. */
#ifndef DDP_COMM_GROUP_H
#define DDP_COMM_GROUP_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_group ddp_group;

/* Join the group that the launcher set up.
 *
 *   backend  "solo" (one process, no MPI call), "mpi", or "gloo" (transport/gloo.c; its ranks find
 *            each other by transport/rendezvous.h, or else by MPI)
 *   *out     set on success; release with ddp_group_close
 *
 * Blocks until every rank has called it. Fails with DDP_ERR_USAGE (no such backend in this build,
 * or another process has this rank's number in the rendezvous), DDP_ERR_NOMEM, DDP_ERR_COMM. Fails
 * with DDP_ERR_IO if /dev/shm is too small, a network interface is missing, or a file of the
 * rendezvous cannot be written. */
ddp_status ddp_group_open(ddp_group **out, const char *backend, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if this build has the backend of this name, as ddp_group_open takes it; else 0. */
int ddp_group_has(const char *backend);

/* The kind of MPI that this program runs with, by what starts its ranks. */
typedef enum ddp_mpi_kind {
    DDP_MPI_NONE,   /* this build has no MPI */
    DDP_MPI_OPEN_4, /* Open MPI up to version 4: orterun and orted; PMIx connects the ranks */
    DDP_MPI_OPEN_5, /* Open MPI from version 5 on: prterun and prted, of PRRTE; PMIx */
    DDP_MPI_HYDRA   /* MPICH and Intel MPI: hydra's mpiexec; PMI connects the ranks */
} ddp_mpi_kind;

/* Return the kind of the MPI library that this process is linked with, which may be newer than the
 * one of the build. From any thread; MPI need not have been started. */
ddp_mpi_kind ddp_group_mpi_kind(void);

/* Make `size` groups that are the ranks of one world inside this process, for tests. Rank i is
 * groups[i], and belongs to one thread of the caller's; release each with ddp_group_close. None is
 * made on failure. Fails with DDP_ERR_USAGE (size below 1 or above 64), DDP_ERR_NOMEM. */
ddp_status ddp_group_open_threads(ddp_group **groups, int size, ddp_error *err) DDP_MUST_CHECK;

/* Make groups as ddp_group_open_threads does, but of ranks on hosts named host0, host1, and so on.
 * Host h has ranks[h] ranks, at least 1. In a stage of hierarchical sums (comm/hierarchical_plan.h)
 * `radix` hosts meet; 0: the default. */
ddp_status ddp_group_open_hosts(ddp_group **groups, const int *ranks, int hosts, int radix,
                                ddp_error *err) DDP_MUST_CHECK;

/* Leave the group, and free g. NULL is allowed. Abandons work in flight: "mpi" then leaves out
 * MPI_Finalize, so that the launcher fails the job when this process ends; "gloo" makes the others'
 * next calls fail. Without work in flight, waits until all others leave ("gloo": at most for the
 * group's timeout). After a failure, waits for nobody. */
void ddp_group_close(ddp_group *g);

/* Fail the whole job: every rank of it ends with a non-zero exit status.
 * Safe from any thread; does not return for "mpi", "gloo" and "solo". For "thread", the
 * other ranks' next calls fail with DDP_ERR_COMM. exit_status 0 counts as 1. */
void ddp_group_abort(ddp_group *g, int exit_status);

/* Return this rank's number, from 0. */
int ddp_group_rank(const ddp_group *g);
/* Return how many ranks there are. */
int ddp_group_size(const ddp_group *g);

/* Return this rank's number among the ranks of its host, from 0. */
int ddp_group_local_rank(const ddp_group *g);
/* Return how many ranks this rank's host has. */
int ddp_group_local_size(const ddp_group *g);

/* Return the host name of a rank; it lives as long as the group. */
const char *ddp_group_host(const ddp_group *g, int rank);

/* Set how long a wait may go without progress before it fails with DDP_ERR_COMM. 0: for ever.
 * Without a call it is 600 s. In host memory each message to or from this rank is progress, and the
 * error names a rank that is waited for. With NCCL there is no progress to see: the whole wait
 * counts, and the error names no other rank. */
void ddp_group_set_timeout(ddp_group *g, int64_t timeout_ns);

/* Return how many nanoseconds this rank had no core, or was stopped, within sums and collectives of
 * host memory, since the group was opened. Gaps of 20 ms or less do not count.
 */
int64_t ddp_group_descheduled_ns(const ddp_group *g);

/* Have moved(ctx) called, on the group's thread, whenever messages of sums and collectives have
 * arrived or been taken. So a watchdog sees that a slow link is no hang. NCCL's messages are not
 * seen. moved NULL: nothing is called. */
void ddp_group_on_progress(ddp_group *g, void (*moved)(void *ctx), void *ctx);

/* Choose the network interface for messages between hosts, of all groups that this process opens
 * later. interface: its name or its network, as "10.1.0.0/16"; the text must stay valid. NULL: MPI,
 * Gloo and NCCL choose. Settings of MPI or NCCL in the environment take precedence. */
void ddp_group_use_interface(const char *interface);

#endif
