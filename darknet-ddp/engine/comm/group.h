/* comm/group.h: a process group: `size` ranks, numbered 0 to size - 1, that train together. All
 * messages between ranks go through it, but for heartbeats (watch/heartbeat.h).
 *
 * Ranks exchange data in two ways. Sums (allreduce) and all-gathers are started, and travel while
 * the program computes (comm/work.h). Collectives block (comm/collectives.h). How sums travel is
 * chosen by comm/group_schedule.h; comm/group_gpu.h gives a rank its GPU.
 *
 * Rules
 *   - Every rank makes the same calls in the same order. If rank 0 starts bucket 3 before bucket 2
 *     and rank 1 does not, the run hangs or mixes gradients.
 *   - A rank that fails before such a call, as for lack of memory, calls ddp_group_abort: else the
 *     other ranks wait for it.
 *   - A group belongs to one thread, but ddp_group_abort is safe from any.
 *   - After DDP_ERR_COMM the group can exchange nothing more.
 *
 * Words used in these headers
 *   count    a number of float32 elements, never of bytes
 *   buf      host memory, unless a device is named
 *   started  the call that starts a sum has returned; buf is the group's until a fence or wait
 */
#ifndef DDP_COMM_GROUP_H
#define DDP_COMM_GROUP_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_group ddp_group;

/* Connect this process, as one rank, with the other ranks of the job. Blocks until every rank has
 * called it. backend: "solo" (one process, no MPI call), "mpi" or "gloo". Ranks of "gloo" find each
 * other by files (transport/rendezvous.h) or else by MPI. *out is set on success; release it with
 * ddp_group_close. Fails with
 *
 *   DDP_ERR_USAGE  this build lacks the backend, or the MPI that "gloo" needs without files; or in
 *                  the rendezvous two ranks have one number, or give different numbers of ranks
 *   DDP_ERR_IO     /dev/shm is too small, a network interface is missing, this rank cannot listen,
 *                  or a file of the rendezvous cannot be written
 *   DDP_ERR_NOMEM, DDP_ERR_COMM */
ddp_status ddp_group_open(ddp_group **out, const char *backend, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if this build has the backend that ddp_group_open knows by this name; else 0. */
int ddp_group_has(const char *backend);

/* Kinds of MPI library, by the programs that start the ranks. */
typedef enum ddp_mpi_kind {
    DDP_MPI_NONE,   /* this build has no MPI */
    DDP_MPI_OPEN_4, /* Open MPI up to version 4: orterun and orted; PMIx connects the ranks */
    DDP_MPI_OPEN_5, /* Open MPI from version 5 on: prterun and prted, of PRRTE; PMIx */
    DDP_MPI_HYDRA   /* MPICH, Intel MPI and others: hydra's mpiexec; PMI connects the ranks */
} ddp_mpi_kind;

/* Return the kind of the MPI library that this process runs with, which may be newer than the one
 * of the build. From any thread; MPI need not have been started. */
ddp_mpi_kind ddp_group_mpi_kind(void);

/* Make a group of `size` ranks that are threads of this process, for tests. groups[i] becomes the
 * handle of rank i. The caller uses each in a thread of its own, and releases each with
 * ddp_group_close. On failure none is made. Fails with DDP_ERR_USAGE (size below 1 or above 64),
 * DDP_ERR_NOMEM. */
ddp_status ddp_group_open_threads(ddp_group **groups, int size, ddp_error *err) DDP_MUST_CHECK;

/* Make a group of threads, as ddp_group_open_threads does, as if its ranks were on several hosts.
 *
 *   ranks  how many ranks each of the `hosts` hosts has, at least 1; host h is named "hostH"
 *   radix  how many hosts meet in a stage of hierarchical sums, at least 2; 0: the default */
ddp_status ddp_group_open_hosts(ddp_group **groups, const int *ranks, int hosts, int radix,
                                ddp_error *err) DDP_MUST_CHECK;

/* Leave the group and free g, which may be NULL. Close its sums and free its memory before. With
 * "mpi" and "gloo" it waits until all other ranks leave; "gloo" without MPI at most for the group's
 * timeout. A process opens a group with MPI once only. If the group has failed or messages are in
 * flight, it does not wait. The job then fails: "mpi" leaves out MPI_Finalize, so the launcher ends
 * it; with "gloo" the others' next calls fail. */
void ddp_group_close(ddp_group *g);

/* Fail the whole job: this process ends at once with exit_status (1 for 0), and so every other rank
 * fails. Exit handlers do not run. Safe from any thread. Does not return, except for ranks that are
 * threads: their next waits fail with DDP_ERR_COMM. */
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

/* Set the group's timeout: how long a wait may go on without progress before it fails with
 * DDP_ERR_COMM. 0: for ever. At first it is 600 s. In sums of host memory and collectives, a
 * message to or from this rank is progress, so is a step in shared memory, and the error names a
 * late rank. NCCL shows no progress: the whole wait counts, and the error names no other rank. */
void ddp_group_set_timeout(ddp_group *g, int64_t timeout_ns);

/* Return for how many nanoseconds this rank had no core, or was stopped, since the group was
 * opened. Only gaps of more than 20 ms count, and only in calls for sums of host memory and
 * collectives. */
int64_t ddp_group_descheduled_ns(const ddp_group *g);

/* Set a function that the group calls, on its thread, whenever a message has ended or a sum has
 * gone on in shared memory: moved(ctx). So a watchdog can tell a slow link from a hang. NCCL's
 * messages are not seen. moved must not use the group; NULL: nothing is called. */
void ddp_group_on_progress(ddp_group *g, void (*moved)(void *ctx), void *ctx);

/* Choose the network interface for messages between hosts. Call once, before the first group is
 * opened. Open MPI, Gloo and NCCL obey it, other MPIs do not. OMPI_MCA_btl_tcp_if_include and
 * NCCL_SOCKET_IFNAME in the environment take precedence. interface: its name, or its network such
 * as "10.1.0.0/16"; the text must stay valid. NULL: the libraries choose. */
void ddp_group_use_interface(const char *interface);

#endif
