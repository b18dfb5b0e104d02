/* comm/work.h: sums over ranks, and all-gathers, which are started and travel while the program
 * computes.
 *
 * A ddp_work is one such sum or all-gather: opened once, then started and waited for as often as
 * needed, always with the same memory and size. It is what MPI calls a persistent request
 * (MPI_Allreduce_init, MPI_Start, MPI_Wait), and PyTorch's handle of a collective under way, Work.
 *
 * Sums have one order. Every element is summed over ranks in a fixed binary tree, ((r0 + r1) + (r2
 * + r3)) + ... (see device/sum.h), whatever the size of the buffer, the element's place in it, the
 * number of messages it travels in and the transport. So ranks agree bit for bit, and neither the
 * bucket size nor overlap nor the transport changes a result. */
#ifndef DDP_COMM_WORK_H
#define DDP_COMM_WORK_H

#include "comm/group.h"
#include "device/device.h"
#include "device/float16.h"

typedef struct ddp_work ddp_work;

/* Prepare a sum of buf[0..count), host memory, over all ranks, in place; no division. Every rank
 * opens the same counts in the same order. Sends nothing. buf must outlive *out; count 0 is
 * allowed. *out is set on success; release it with ddp_work_close. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_allreduce_open(ddp_work **out, ddp_group *g, float *buf, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Prepare a sum of buf[0..count), memory of device d (the host or ddp_group_device), that travels
 * in `wire`. If `wire` is shorter than float32 (device/wire.h), each rank's numbers are rounded to
 * it. So is each sum of the tree, which is made in float32. 8-bit floats go in blocks, the first of
 * which begins at buf; NCCL cannot sum them. The sum's bits depend on no schedule and no host, but
 * NCCL rounds and adds in an order of its own. A rank that is alone rounds nothing. Otherwise as
 * ddp_allreduce_open. */
ddp_status ddp_allreduce_open_on(ddp_work **out, ddp_group *g, ddp_device *d, float *buf,
                                 size_t count, ddp_wire wire, ddp_error *err) DDP_MUST_CHECK;

/* Prepare an all-gather: all ranks get the `count` floats of each rank. Those of rank r are all[r *
 * count .. (r + 1) * count), in memory of d, the host or ddp_group_device, which must outlive it.
 * Nothing is added or rounded: 32 bits of any kind travel as they are. A rank sends its floats once
 * to each other rank; by a hierarchical schedule, once to each other host.
 *
 * The functions below start, fence, wait for and close it as they do a sum. It has its place in the
 * order of opening and of starting. All of `all` is the group's from start to fence or wait. A
 * start takes this rank's floats as they are then; the others' may hold anything. Afterwards
 * ddp_work_finite tells whether all of `all`, read as floats, is finite: integers from 0 to 2^31 -
 * 2^23 - 1 are. An all-gather has no halves and no share. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM.
 */
ddp_status ddp_allgather_open(ddp_work **out, ddp_group *g, ddp_device *d, float *all, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Free a sum or all-gather; w may be NULL. The sum must not be in flight, unless the group
 * failed. */
void ddp_work_close(ddp_work *w);

/* Start the sum or all-gather; its buffer belongs to the group until a fence or wait. Every rank
 * starts the same ones in the same order, at any time of its own. Several may be in flight; they
 * travel in that order. Does not wait for peers. Fails with DDP_ERR_USAGE (it is in flight),
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_work_start(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Start the sum as ddp_work_start does. The sum waits for the work that is queued so far on
 * `behind`, a queue of its device (ddp_device_queue_open), and for no other work. */
ddp_status ddp_work_start_behind(ddp_work *w, ddp_device *behind, ddp_error *err) DDP_MUST_CHECK;

/* Move everything in flight along, without waiting. Data moves only inside calls on the group. So a
 * thread that computes for long must call this function now and then: every millisecond or so keeps
 * a link of 1 to 10 Gbit/s busy. Costs a few microseconds, next to nothing when nothing is in
 * flight. Fails with DDP_ERR_COMM. */
ddp_status ddp_group_progress(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if a sum that was started has ended on this rank; else 0. Moves no data. */
int ddp_work_done(const ddp_work *w);

/* Fence the sum: work that its device computes from here on finds the sum in buf, with the same
 * bits on every rank. With NCCL that is queued, and the program goes on. A sum that travels
 * through host memory, also a GPU's, blocks here until all ranks' numbers have come. Fails with
 * DDP_ERR_USAGE (never started), DDP_ERR_COMM. */
ddp_status ddp_work_fence(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum as ddp_work_fence does, but only for work that is queued from here on on `before`,
 * a queue of its device. */
ddp_status ddp_work_fence_before(ddp_work *w, ddp_device *before, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if ddp_work_fence of a started sum would block now: the sum travels through host memory,
 * and has not ended. With NCCL it is always 0. Moves no data. */
int ddp_work_fence_waits(const ddp_work *w);

/* Block until a started sum has ended; fence it, too, if it has no fence. Fails with DDP_ERR_USAGE
 * (never started), DDP_ERR_COMM. */
ddp_status ddp_work_wait(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if every element of the sum is a finite number, or the sum was never started; else 0.
 * Call after a wait, or after a fence and a ddp_group_synchronize. The same on every rank. With 0
 * no element is of use: some may have become NaN on the way. In the group "solo", on the host,
 * reads buf as it is now. On a GPU at most one call after each start returns 0; calls after that
 * one return 1. For one rank alone on a GPU the answer is there after ddp_device_synchronize, or a
 * step late. */
int ddp_work_finite(ddp_work *w);

/* Return the event that passed when the last fenced sum began: the sum had been started, and the
 * values in its memory had been computed. On a GPU it is in the GPU's own time. w owns the event.
 * Read it after the first fence; a group of one rank never records it. */
const ddp_device_event *ddp_work_began(const ddp_work *w);
/* Return the event that passed when the sum of ddp_work_began ended. w owns it. Read it when that
 * of ddp_work_began may be read. */
const ddp_device_event *ddp_work_ended(const ddp_work *w);

/* ---- a sum in two halves ----
 *
 * Each rank has a share of a sum's buffer, cut by the way sums travel and by their chunks: the same
 * for every sum of that size. After DDP_REDUCE_SCATTER a rank's share holds the sum, the rest of
 * its buffer nothing of use. DDP_ALL_GATHER gives every rank what each has in its share, whatever
 * that is by then. One after the other they make the whole sum, bit for bit; with DDP_WIRE_FP32,
 * with no more bytes. */
typedef enum ddp_work_phase { DDP_ALLREDUCE, DDP_REDUCE_SCATTER, DDP_ALL_GATHER } ddp_work_phase;

typedef struct ddp_range {
    size_t begin, end; /* elements begin to end - 1 */
} ddp_range;

/* Start half of the sum. DDP_ALL_GATHER travels as float32, whatever the wire is. After
 * DDP_REDUCE_SCATTER, ddp_work_finite tells of what this rank has summed, so ranks may differ.
 * After DDP_ALL_GATHER its answer is the same on every rank, and may look at only the first element
 * of each range of each rank's share. Fails as ddp_work_start. Fails with DDP_ERR_USAGE if w is an
 * all-gather. Fails so, too, for DDP_REDUCE_SCATTER of float32 if NCCL adds in an order of its own
 * (ddp_gpu_config.exact is 0). */
ddp_status ddp_work_start_phase(ddp_work *w, ddp_work_phase phase, ddp_error *err) DDP_MUST_CHECK;

/* Return this rank's share of a sum: *count ranges of elements, in order, none empty. A rank that
 * is alone has all. The caller frees *ranges. They are valid until the next ddp_group_use_schedule.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_work_share(const ddp_work *w, ddp_range **ranges, size_t *count,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
