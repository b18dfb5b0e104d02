/* comm/work.h: sums over ranks (allreduce), and all-gathers, which are started and travel while the
 * program computes.
 *
 * A ddp_work is one sum or all-gather: opened once, then started and waited for as often as needed,
 * always with the same memory and size. MPI calls it a persistent request (MPI_Allreduce_init,
 * MPI_Start, MPI_Wait). PyTorch's Work is such a handle, too.
 *
 * 1. ddp_allreduce_open or ddp_allgather_open, once
 * 2. ddp_work_start, in each step; meanwhile ddp_group_progress moves the data
 * 3. ddp_work_fence or ddp_work_wait, before the sum is read
 * 4. ddp_work_close
 *
 * Every element is summed over ranks in one binary tree, ((r0 + r1) + (r2 + r3)) + ... (see
 * device/sum.h). So all ranks get the same bits, and bucket size, overlap and transport change no
 * result. */
#ifndef DDP_COMM_WORK_H
#define DDP_COMM_WORK_H

#include "comm/group.h"
#include "device/device.h"
#include "device/float16.h"

typedef struct ddp_work ddp_work;

/* Prepare a sum of buf[0..count), host memory, over all ranks, in place; it is not divided by their
 * number. Every rank opens the same counts in the same order. Sends nothing. buf must outlive *out;
 * count 0 is allowed. *out is set on success; release it with ddp_work_close. Fails with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_allreduce_open(ddp_work **out, ddp_group *g, float *buf, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Prepare a sum as ddp_allreduce_open does, but of memory of a device, or in a shorter format.
 *
 *   d     the device of buf: the host or ddp_group_device
 *   wire  the format in which floats travel (device/wire.h). If it is shorter than float32, each
 *         rank's floats are rounded to it, and so is each sum of the tree, which is made in
 *         float32. A rank that is alone rounds nothing.
 *
 * NCCL rounds and adds formats of 16 bits in an order of its own. It cannot sum 8-bit floats, which
 * elsewhere go in blocks that are counted from buf. */
ddp_status ddp_allreduce_open_on(ddp_work **out, ddp_group *g, ddp_device *d, float *buf,
                                 size_t count, ddp_wire wire, ddp_error *err) DDP_MUST_CHECK;

/* Prepare an all-gather: every rank gets the `count` floats of each rank. The floats of rank r are
 * all[r * count .. (r + 1) * count), in memory of d, the host or ddp_group_device. `all` must
 * outlive *out. Every rank opens the same counts in the same order as its other sums.
 *
 * Nothing is added or rounded, so any values of 32 bits travel unchanged. A rank sends its floats
 * once to each other rank, or with hierarchical sums once to each other host.
 *
 * The functions below start it, wait for it and close it as they do a sum. A start takes this
 * rank's floats; the others' may hold anything then. All of `all` belongs to the group from the
 * start to the fence or wait. Afterwards ddp_work_finite tells whether all of
 * `all`, read as floats, is finite; integers from 0 to 2^31 - 2^23 - 1 are. An all-gather has no
 * halves and no share. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_allgather_open(ddp_work **out, ddp_group *g, ddp_device *d, float *all, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Free a sum or all-gather; w may be NULL. It must not be in flight, unless the group has failed.
 */
void ddp_work_close(ddp_work *w);

/* Start the sum or all-gather, without waiting for other ranks. Its buffer belongs to the group
 * until a fence or wait. Every rank starts the same ones in the same order. Several may be in
 * flight; they travel in that order. Fails with DDP_ERR_USAGE (it is in flight already),
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_work_start(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Start the sum as ddp_work_start does, but behind the work that is queued so far on `behind`, a
 * queue of its device (ddp_device_queue_open), in place of the default queue. */
ddp_status ddp_work_start_behind(ddp_work *w, ddp_device *behind, ddp_error *err) DDP_MUST_CHECK;

/* Move everything in flight along, without waiting. Call it every millisecond or so while the
 * program computes, since data move only inside calls on the group; that keeps a link of 1 to 10
 * Gbit/s busy. Takes a few microseconds, and next to nothing when nothing is in flight. Fails with
 * DDP_ERR_COMM. */
ddp_status ddp_group_progress(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if the sum was started and has ended on this rank; else 0. Moves no data. */
int ddp_work_done(const ddp_work *w);

/* Fence the sum: work that its device does after this call finds the sum in buf. With NCCL the
 * fence is queued on the GPU, and the call does not block. If the sum travels through host memory,
 * as a GPU's may, the call blocks until the sum is made. Fails with DDP_ERR_USAGE (never started),
 * DDP_ERR_COMM. */
ddp_status ddp_work_fence(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum as ddp_work_fence does, but only for work that is queued after this call on
 * `before`, a queue of its device. */
ddp_status ddp_work_fence_before(ddp_work *w, ddp_device *before, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if ddp_work_fence of a started sum would block now: the sum travels through host memory
 * and is not made yet. Else, and always with NCCL, return 0. Moves no data. */
int ddp_work_fence_blocks(const ddp_work *w);

/* Block until the sum has ended; the program then finds it in buf, too. If it has no fence, fence
 * it first. Fails with DDP_ERR_USAGE (never started), DDP_ERR_COMM. */
ddp_status ddp_work_wait(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if every element of the sum is finite, or the sum was never started; else 0. The answer
 * is the same on every rank. With 0 no element is of use, since some may have become NaN on the
 * way. Call it after ddp_work_wait, or after a fence and ddp_group_synchronize.
 *
 * On a GPU at most one call after each start returns 0. A rank that is alone has the answer on a
 * GPU after ddp_device_synchronize, or a step late. On the host it reads buf in each call, even
 * before the first start. */
int ddp_work_finite(ddp_work *w);

/* Return the event that passes when the sum begins: it was started, and the values in buf were
 * computed. On a GPU its time is the GPU's own. w owns the event. Read it only after a fence; in a
 * group of one rank it is never recorded. */
const ddp_device_event *ddp_work_began(const ddp_work *w);
/* Return the event that passes when the sum has ended. The rules of ddp_work_began hold for it. */
const ddp_device_event *ddp_work_ended(const ddp_work *w);

/* ---- a sum in two halves ----
 *
 * A sum can be made as a reduce-scatter and an all-gather. Each rank has a share of the buffer.
 * After DDP_REDUCE_SCATTER its share holds the sum, and the rest of its buffer nothing of use. The
 * rank may change its share then. DDP_ALL_GATHER copies every rank's share to all ranks. Both
 * halves together give the same bits as the whole sum, and with DDP_WIRE_FP32 send no more bytes.
 */
typedef enum ddp_work_phase { DDP_ALLREDUCE, DDP_REDUCE_SCATTER, DDP_ALL_GATHER } ddp_work_phase;

/* Elements begin to end - 1 of a sum. */
typedef struct ddp_range {
    size_t begin, end;
} ddp_range;

/* Start a half of the sum, or with DDP_ALLREDUCE all of it. DDP_ALL_GATHER travels as float32,
 * whatever the sum's wire. Fails as ddp_work_start. Fails with DDP_ERR_USAGE, too, if w is an
 * all-gather, and for DDP_REDUCE_SCATTER in float32 by NCCL if ddp_gpu_config.exact is 0.
 *
 * ddp_work_finite has another meaning after a half. After DDP_REDUCE_SCATTER it covers this rank's
 * share alone, so ranks may differ. After DDP_ALL_GATHER ranks agree, but it may look at no more
 * than the first element of each range of a share. */
ddp_status ddp_work_start_phase(ddp_work *w, ddp_work_phase phase, ddp_error *err) DDP_MUST_CHECK;

/* Return this rank's share of a sum: *count ranges of elements, in order, none empty. A rank that
 * is alone has all. Sums of one size on one device have the same share; it changes with
 * ddp_group_use_schedule. The caller frees *ranges. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_work_share(const ddp_work *w, ddp_range **ranges, size_t *count,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
