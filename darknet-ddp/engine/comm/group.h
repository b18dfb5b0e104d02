/* comm/group.h: a process group, the only way this project talks to peers.
 *
 * A group is `size` ranks, numbered 0 to size-1, that make the same calls in
 * the same order. Order is the whole contract: if rank 0 starts bucket 3 before
 * bucket 2 and rank 1 does not, the run hangs or mixes gradients.
 *
 * Sums have one order. Every element is summed over ranks in a fixed binary
 * tree, ((r0 + r1) + (r2 + r3)) + ... (see device/sum.h), whatever the size of the buffer, the
 * element's place in it, the number of messages it travels in and the
 * transport. So ranks agree bit for bit, and neither the bucket size nor overlap
 * nor the transport changes a result.
 *
 * Words used below
 *   count    a number of float32 elements, never of bytes
 *   buf      host memory, but where a device is named
 *   started  the call has returned; buf belongs to the group until the fence or wait
 *
 * A group belongs to one thread. After DDP_ERR_COMM only ddp_group_close and
 * ddp_group_abort work.
 */
#ifndef DDP_COMM_GROUP_H
#define DDP_COMM_GROUP_H

#include "base/status.h"
#include "device/device.h"
#include "device/half.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_group ddp_group;

/* A sum over ranks that can be repeated: its buffer and size stay the same. */
typedef struct ddp_allreduce ddp_allreduce;

/* Join the group that the launcher set up.
 * backend  "solo" (one process, no MPI call), "mpi", or "gloo" (transport/gloo.c: which ranks there
 * are comes from transport/rendezvous.h, or else from MPI) *out     set on success; release with
 * ddp_group_close Blocks until every rank has called it. Fails with DDP_ERR_USAGE (no such backend
 * in this build), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_open(ddp_group **out, const char *backend, ddp_error *err) DDP_MUST_CHECK;

/* Is there such a backend in this build? */
int ddp_group_has(const char *backend);

/* Do the processes of an MPI job find each other by PMI (srun --mpi=pmi2)? Open MPI's do by PMIx
 * alone. */
int ddp_group_mpi_knows_pmi(void);

/* Make `size` groups that are the ranks of one world inside this process, for
 * tests: groups[i] is rank i and belongs to one thread of the caller's.
 * groups[0..size) are set on success; each is released with ddp_group_close.
 * Fails with DDP_ERR_USAGE (size < 1), DDP_ERR_NOMEM. */
ddp_status ddp_group_open_threads(ddp_group **groups, int size, ddp_error *err) DDP_MUST_CHECK;

/* The same with ranks[h] of them, at least 1, on each of `hosts` hosts, host0 and on. radix: of
 * sums by levels (comm/levels_plan.h); 0: as always. */
ddp_status ddp_group_open_hosts(ddp_group **groups, const int *ranks, int hosts, int radix,
                                ddp_error *err) DDP_MUST_CHECK;

/* Leave the group. NULL is allowed. Work in flight is abandoned: for "mpi" the
 * process then ends without MPI_Finalize, and the launcher fails the job; for "gloo"
 * the others' next calls fail. Else "mpi" and "gloo" wait until all others leave. */
void ddp_group_close(ddp_group *g);

/* Fail the whole job: every rank of it ends with a non-zero exit status.
 * Safe from any thread; does not return for "mpi", "gloo" and "solo". For "thread", the
 * other ranks' next calls fail with DDP_ERR_COMM. exit_status 0 counts as 1. */
void ddp_group_abort(ddp_group *g, int exit_status);

int ddp_group_rank(const ddp_group *g);
int ddp_group_size(const ddp_group *g);
const char *ddp_group_backend(const ddp_group *g); /* "solo", "thread", "mpi", "gloo" */

/* Rank among the ranks of the same host, and how many these are. */
int ddp_group_local_rank(const ddp_group *g);
int ddp_group_local_size(const ddp_group *g);

/* Host name of a rank; lives as long as the group. */
const char *ddp_group_host(const ddp_group *g, int rank);

/* ---- channels ----
 *
 * A round-robin group (Li et al. 2020, sections 3.3 and 5.4): sums take turns, in the order of
 * starting, at several channels, in each of which messages are matched on their own. Of "mpi" they
 * are communicators: whether each has connections of its own is the MPI's matter (Open MPI 4.1 has
 * one for all). Of NCCL they are communicators with connections and a stream each, so that sums may
 * overlap. What a sum is does not change. */

enum { DDP_CHANNELS_MAX = 8 };

/* Every rank calls it once with the same number, 1 to DDP_CHANNELS_MAX, before a GPU is used, while
 * no sum is open, and blocks until all have. Without it: 1.
 * Fails with DDP_ERR_USAGE (the backend has but one), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_channels(ddp_group *g, int channels, ddp_error *err) DDP_MUST_CHECK;

/* 1 in a group of one rank. */
int ddp_group_channels(const ddp_group *g);

/* ---- how sums travel ----
 *
 *   direct   every rank with every other: 2 (size-1)/size of a sum's bytes each way, so
 *            that a host of many ranks sends as many times that
 *   levels   within a host in memory that its ranks share, between hosts by messages,
 *            of each rank with its like on other hosts (comm/levels_plan.h): a host
 *            sends no more than one rank would
 *
 * Both have the same bits. Sums of a GPU's memory that NCCL makes in the order of
 * device/sum.h go the same ways, by messages within hosts, too; its others go NCCL's own. */
typedef enum ddp_schedule {
    DDP_SCHEDULE_AUTO, /* what comm/schedule.c takes for the faster one */
    DDP_SCHEDULE_DIRECT,
    DDP_SCHEDULE_LEVELS
} ddp_schedule;

/* Every rank calls it with the same value, before a GPU is used, while no sum is open, and blocks
 * until all have. Without it: direct. Where the ranks of a host cannot share memory, AUTO takes
 * direct, and LEVELS fails with DDP_ERR_USAGE. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_schedule(ddp_group *g, ddp_schedule wanted, ddp_error *err) DDP_MUST_CHECK;

/* Of sums of ddp_group_device's memory, for people: "direct", "2 levels (4 ranks a host in shared
 * memory, then 2 hosts)"; lives as long as the group. */
const char *ddp_group_schedule(const ddp_group *g);

/* Do they travel so? Those of a GPU do not where NCCL orders them. */
int ddp_group_has_schedule(const ddp_group *g);

/* Do they go through host memory, by the group's own transport? */
int ddp_group_sums_on_host(const ddp_group *g);

/* ---- chunks ----
 *
 * Sums of host memory travel in chunks, of which a window is in flight at a time. Neither changes a
 * bit: each element has its own tree. But each chunk is cut into the ranks' shares of it
 * (ddp_allreduce_share), so other chunks are other shares. */
typedef struct ddp_chunks {
    size_t bytes; /* of a chunk */
    int window;   /* how many are in flight */
} ddp_chunks;

enum {
    DDP_CHUNK_LEAST_BYTES = 4096,
    DDP_CHUNK_MOST_BYTES = 8 << 20,
    DDP_CHUNKS_MOST = 32 /* in flight */
};

typedef struct ddp_chunk_limits {
    ddp_chunks own;    /* what suits the ranks, their hosts and the schedule */
    size_t most_bytes; /* of a chunk, so that no message is longer than a transport likes */
} ddp_chunk_limits;
ddp_chunk_limits ddp_group_chunk_limits(const ddp_group *g);

/* From here on as rank 0 wishes, within the limits (comm/chunk_sizes.h); 0: what suits, as without
 * a wish. Every rank calls it while none of its sums is in flight, nor open between its halves
 * (DDP_REDUCE was its last start), and blocks until rank 0 has, or all have. Where the ranks of a
 * host cannot share memory for so much, chunks stay as they were. What ddp_allreduce_share has said
 * before no longer holds.
 * Fails with DDP_ERR_USAGE (a sum is in flight or between its halves), DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_group_use_chunks(ddp_group *g, ddp_chunks wish, ddp_error *err) DDP_MUST_CHECK;

/* As they are now; 0 in a group of one rank. */
ddp_chunks ddp_group_chunks(const ddp_group *g);

/* What this rank's sums have sent since the group was opened, but for those that NCCL orders. */
typedef struct ddp_traffic {
    uint64_t messages;
    uint64_t bytes;                           /* of them */
    uint64_t left_bytes;                      /* of these, those to other hosts */
    uint64_t channel_bytes[DDP_CHANNELS_MAX]; /* of all, those of each channel */
} ddp_traffic;
ddp_traffic ddp_group_traffic(const ddp_group *g);

/* ---- GPUs ----
 *
 * A group talks through host memory. Each of its ranks may also have a GPU; sums of that
 * GPU's memory then go through NCCL, or are copied through host memory.
 *
 * Such a sum has its place in the GPU's work, not in the program's: start takes what the
 * framework has queued so far as done before it, ddp_allreduce_fence makes what is queued
 * afterwards come behind it, and neither holds up the program. So a peer that is lost
 * would be noticed by nobody but a GPU that hangs: before the program itself waits for
 * the GPU, it calls ddp_group_settle, or waits for the sum with ddp_allreduce_wait. */

typedef struct ddp_gpu_config {
    int gpu;    /* CUDA's number of this rank's GPU */
    int shared; /* other ranks of this host use the same one: NCCL then talks over sockets */
    int nccl;   /* 1: sums by NCCL; 0: through host memory and the group's transport */
    int exact;  /* sums by NCCL in the order of device/sum.h; else in an order of NCCL's own, the
                   same on every rank. Through host memory they always are. */
    int ctas;   /* most thread blocks that NCCL may use; 0: its own choice */
    const char *without_nccl; /* how to do without NCCL, for errors; NULL: nothing is said */
    /* A CUDA or NCCL call has failed; what and where is in err. */
    void (*fail)(const ddp_error *err) __attribute__((noreturn));
} ddp_gpu_config;

/* Give this rank its GPU. Every rank calls it, with the same nccl, exact and ctas. Blocks until
 * every rank has. The GPU becomes the calling thread's. Call it once, before any sum is opened.
 * Fails with DDP_ERR_USAGE (a build for CPUs, no such GPU, an NCCL too old),
 * DDP_ERR_MISMATCH (the ranks' NCCL differ), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_group_use_gpu(ddp_group *g, const ddp_gpu_config *config,
                             ddp_error *err) DDP_MUST_CHECK;

/* This rank's GPU, or the host. */
ddp_device *ddp_group_device(const ddp_group *g);

/* How sums of the device's memory travel: "nccl 2.27.3" or ddp_group_backend. */
const char *ddp_group_transport(const ddp_group *g);

/* Wait, moving messages along, until each sum of a GPU that has a fence has arrived there.
 * Fails with DDP_ERR_COMM, when the timeout has passed, NCCL has failed or the transport has lost a
 * rank. What waits on the GPU is aborted when something of the group is released: report first,
 * then close. */
ddp_status ddp_group_settle(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Time in which the GPU's own work stood still for sums, of those that ddp_group_settle has
 * seen arrive, in nanoseconds since the group was opened. 0 on the host. */
int64_t ddp_group_stalled_ns(const ddp_group *g);

/* Memory for sums on a device, as ddp_device_alloc; on a GPU, registered with NCCL where its
 * version knows that, on the host such as the ranks of a host can sum where it lies, where they
 * share memory (DDP_SCHEDULE_LEVELS). Every rank calls it for the same counts in the same order,
 * and blocks until every rank has. */
ddp_status ddp_group_alloc_memory(ddp_group *g, ddp_device *d, float **x, size_t count,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_group_free_memory(ddp_group *g, ddp_device *d, float *x);

/* ---- time ---- */

/* How long a wait may go without any message arriving before it fails with
 * DDP_ERR_COMM and names a rank that owes one. 0: for ever. Default 600 s. */
void ddp_group_set_timeout(ddp_group *g, int64_t timeout_ns);

/* From here on moved(ctx) is called whenever messages of sums and collectives have arrived, or been
 * taken: a slow link is no hang. NCCL's are not seen. */
void ddp_group_on_messages(ddp_group *g, void (*moved)(void *ctx), void *ctx);

/* Before opening a group: messages between hosts use this network interface, its name, or its
 * network as "10.1.0.0/16"; unless the environment says otherwise to MPI or NCCL. The text must
 * stay. */
void ddp_group_use_interface(const char *interface);

/* Prepare a sum of buf[0..count) over all ranks, in place; no division.
 * Every rank opens the same counts in the same order. buf must outlive it.
 * count 0 is allowed. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_allreduce_open(ddp_allreduce **out, ddp_group *g, float *buf, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* The same for memory of a device, the host or ddp_group_device, and on a wire of 16 bits
 * (device/half.h): what each rank adds is then rounded to them, and so is each sum of the tree,
 * which is made in float32. One result whatever the schedule and the hosts, as for float32, but not
 * with NCCL, which rounds and adds in an order of its own. A rank that is alone rounds nothing. */
ddp_status ddp_allreduce_open_on(ddp_allreduce **out, ddp_group *g, ddp_device *d, float *buf,
                                 size_t count, ddp_wire wire, ddp_error *err) DDP_MUST_CHECK;

/* NULL is allowed. The sum must not be in flight, unless the group failed. */
void ddp_allreduce_close(ddp_allreduce *a);

/* Start the sum. Every rank starts the same sums in the same order, at any
 * time of its own; several may be in flight, and they travel in that order.
 * Does not wait for peers.
 * Fails with DDP_ERR_USAGE (it is in flight), DDP_ERR_COMM. */
ddp_status ddp_allreduce_start(ddp_allreduce *a, ddp_error *err) DDP_MUST_CHECK;

/* The same behind the work so far of `behind`, a queue of the sum's device
 * (ddp_device_queue_open), and of nothing else. */
ddp_status ddp_allreduce_start_behind(ddp_allreduce *a, ddp_device *behind,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Move everything in flight along, without waiting. Data moves only inside
 * calls on the group, so a thread that computes for long calls this now and
 * then (every millisecond or so keeps a 1 to 10 Gbit/s link busy).
 * Costs a few microseconds, next to nothing when nothing is in flight.
 * Fails with DDP_ERR_COMM. */
ddp_status ddp_group_progress(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* ---- a sum in two halves ----
 *
 * Each rank has a share of a sum's buffer, cut by the way sums travel and by their chunks: the same
 * for every sum of that size. After DDP_REDUCE a rank's share holds the sum, the rest of its buffer
 * nothing of use. DDP_GATHER gives every rank what each has in its share, whatever that is by then.
 * One after the other they make the whole sum, bit for bit, with no more bytes. */
typedef enum ddp_half { DDP_WHOLE, DDP_REDUCE, DDP_GATHER } ddp_half;

typedef struct ddp_range {
    size_t begin, end; /* elements */
} ddp_range;

/* As ddp_allreduce_start, half of the sum; of float32 by NCCL only where it is ordered
 * (ddp_gpu_config.exact). DDP_GATHER travels as float32 whatever the wire. ddp_allreduce_finite
 * then tells: after DDP_REDUCE, of what this rank has summed, maybe otherwise on others; after
 * DDP_GATHER, the same on every rank, of the first element of every range of every share, or of
 * more. Fails also with DDP_ERR_USAGE: NCCL orders it. */
ddp_status ddp_allreduce_start_half(ddp_allreduce *a, ddp_half half, ddp_error *err) DDP_MUST_CHECK;

/* This rank's share of a sum: *count ranges, in order, none empty. Free *ranges.
 * While the group's schedule and chunks stay as they are. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM.
 */
ddp_status ddp_allreduce_share(const ddp_allreduce *a, ddp_range **ranges, size_t *count,
                               ddp_error *err) DDP_MUST_CHECK;

/* Has the started sum ended on this rank? Does not move data. */
int ddp_allreduce_done(const ddp_allreduce *a);

/* What the sum's device computes from here on finds the sum in buf, with the same bits on every
 * rank. On a GPU that is queued there, and the program goes on; on the host it is the wait below.
 * Fails with DDP_ERR_USAGE (never started), DDP_ERR_COMM. */
ddp_status ddp_allreduce_fence(ddp_allreduce *a, ddp_error *err) DDP_MUST_CHECK;

/* The same for what `before` computes from here on, a queue of the sum's device, and for nothing
 * else. */
ddp_status ddp_allreduce_fence_before(ddp_allreduce *a, ddp_device *before,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Would the fence of a started sum hold up the program? Where it has to travel through host memory,
 * until it has; with NCCL never. Does not move data. */
int ddp_allreduce_fence_waits(const ddp_allreduce *a);

/* Wait, in the program, until a started sum has ended; with the fence, where there was none. Fails
 * as ddp_allreduce_fence. */
ddp_status ddp_allreduce_wait(ddp_allreduce *a, ddp_error *err) DDP_MUST_CHECK;

/* After a wait, or a fence and a ddp_group_settle: was every element of the sum a
 * finite number? The same on every rank. Where not, no element is of use: some may have become NaN
 * on the way. Ranks that sum in host memory see it as they sum; one rank alone, and a GPU, read the
 * sum once more.
 * One rank alone waits for nothing: its GPU's answer is there after ddp_device_synchronize, or a
 * step late, and is given once. */
int ddp_allreduce_finite(ddp_allreduce *a);

/* When the last sum that had a fence began, as soon as its memory was computed and it had been
 * started, and when it ended; on a GPU, in its own time. Events of the sum, set after the first
 * fence, in a group of more than one rank. */
const ddp_device_event *ddp_allreduce_began(const ddp_allreduce *a);
const ddp_device_event *ddp_allreduce_ended(const ddp_allreduce *a);

/* Copy buf[0..bytes) of rank root to every rank. Blocks.
 * Fails with DDP_ERR_USAGE (root is no rank), DDP_ERR_COMM. */
ddp_status ddp_broadcast(ddp_group *g, void *buf, size_t bytes, int root,
                         ddp_error *err) DDP_MUST_CHECK;

/* Copy buf[0..bytes) of rank from to rank to. Every rank calls it, with the same bytes, from and
 * to; it blocks these two, which may have to wait for what the other does first, and only counts on
 * the others, whose buf may be NULL. Fails as ddp_broadcast. */
ddp_status ddp_transfer(ddp_group *g, void *buf, size_t bytes, int from, int to,
                        ddp_error *err) DDP_MUST_CHECK;

/* all[r * bytes .. (r + 1) * bytes) becomes rank r's mine[0..bytes). Blocks. */
ddp_status ddp_allgather(ddp_group *g, const void *mine, void *all, size_t bytes,
                         ddp_error *err) DDP_MUST_CHECK;

/* Rank root gets what each other rank has: bytes[r] of rank r, one behind the other in the order
 * of ranks, to data, where its own bytes[root] are left as they are. On another rank data is what
 * it has, and bytes points to how much. What it has and what root expects of it must be the same.
 * Blocks until it is there. Fails as ddp_broadcast. */
ddp_status ddp_gather(ddp_group *g, void *data, const size_t *bytes, int root,
                      ddp_error *err) DDP_MUST_CHECK;

/* Returns on no rank before every rank has called it. */
ddp_status ddp_barrier(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

#endif
