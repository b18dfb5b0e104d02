/* comm/work.h: sums over ranks (allreduce), and all-gathers, which are started and travel while the
 * program computes.
 *
 * A ddp_work is one sum or all-gather: opened once, then started and waited for as often as needed,
 * always with the same memory and size. MPI calls it a persistent request (MPI_Allreduce_init).
 *
 * 1. ddp_allreduce_open or ddp_allgather_open, once
 * 2. ddp_work_start, in each step; meanwhile ddp_group_progress moves the data
 * 3. ddp_work_fence or ddp_work_wait, before the sum is read
 * 4. ddp_work_close
 *
 * Every rank opens and starts the same sums and all-gathers in the same order. Functions that
 * return a ddp_status may fail with DDP_ERR_NOMEM or DDP_ERR_COMM; comments name other errors only.
 *
 * Every element is summed over ranks in one binary tree, ((r0 + r1) + (r2 + r3)) + ... (see
 * device/sum.h). So all ranks get the same bits, and bucket size, overlap and transport change no
 * result. NCCL has an order of its own, the same on every rank; but with ddp_gpu_config.exact it
 * sums float32 by this tree. */
#ifndef DDP_COMM_WORK_H
#define DDP_COMM_WORK_H

#include "comm/group.h"
#include "device/device.h"
#include "device/float16.h"

typedef struct ddp_work ddp_work;

/* Prepare a sum of buf[0..count), host memory, over all ranks, in place. It is not divided by their
 * number. count is the same on every rank, and may be 0. Sends nothing. buf must outlive *out. *out
 * is set on success; release it with ddp_work_close. */
ddp_status ddp_allreduce_open(ddp_work **out, ddp_group *g, float *buf, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Prepare a sum as ddp_allreduce_open does, but of memory of a device, or in a shorter format.
 *
 *   d     device of buf: the host or ddp_group_device
 *   wire  format in which floats travel. Each rank's floats, and each sum of two nodes of the tree,
 *         are rounded to it. In a group of one rank nothing is rounded.
 *
 * NCCL always sums formats of 16 bits in an order of its own. Fails with DDP_ERR_USAGE if NCCL is
 * to sum DDP_WIRE_FP8. With NCCL it may wait for sums that are in flight. */
ddp_status ddp_allreduce_open_on(ddp_work **out, ddp_group *g, ddp_device *d, float *buf,
                                 size_t count, ddp_wire wire, ddp_error *err) DDP_MUST_CHECK;

/* Prepare an all-gather: every rank gets `count` floats of each rank, the same count everywhere.
 * Any 32 bits travel unchanged.
 *
 *   d    device of `all`: the host or ddp_group_device
 *   all  memory that must outlive *out. The floats of rank r are all[r * count .. (r + 1) * count).
 *        Before a start this rank sets its own; the others' may hold anything.
 *
 * The functions below start it, wait for it and close it as they do a sum. It has no halves and no
 * share. ddp_work_finite reads all of `all` as floats; integers from 0 to 2^31 - 2^23 - 1 count as
 * finite. */
ddp_status ddp_allgather_open(ddp_work **out, ddp_group *g, ddp_device *d, float *all, size_t count,
                              ddp_error *err) DDP_MUST_CHECK;

/* Free a sum or all-gather, which must not be in flight, unless the group has failed. w may be
 * NULL. May wait for the GPU. */
void ddp_work_close(ddp_work *w);

/* Start the sum or all-gather, without waiting for other ranks, except when NCCL first connects to
 * them. But on a GPU, if the last sum of w was fenced and nothing has waited for it since, call
 * ddp_group_synchronize first. The buffer of w belongs to the group until a fence or wait. Several
 * sums may be in flight. Fails with DDP_ERR_USAGE if w is in flight already. */
ddp_status ddp_work_start(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Start the sum as ddp_work_start does, but order it behind another queue than the device's default
 * queue. behind: a queue of the sum's device (ddp_device_queue_open). The sum begins after the work
 * that is queued there so far. */
ddp_status ddp_work_start_behind(ddp_work *w, ddp_device *behind, ddp_error *err) DDP_MUST_CHECK;

/* Move everything in flight along, without waiting. Except by NCCL, sums go on only inside calls on
 * the group. So call this every millisecond or so while the program computes. */
ddp_status ddp_group_progress(ddp_group *g, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if the sum was started and has ended on this rank; else 0. Moves no data. */
int ddp_work_done(const ddp_work *w);

/* Fence the sum: work that its device does after this call finds the sum in buf. With NCCL the call
 * does not block, since the GPU does the waiting. Else it blocks until the sum is made. Fails with
 * DDP_ERR_USAGE if the sum was never started. */
ddp_status ddp_work_fence(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Fence the sum as ddp_work_fence does, but only for work that is queued after this call on one
 * queue, `before`. It is a queue of the sum's device (ddp_device_queue_open), and must outlive w. A
 * sum has one fence for each start: a second call, for any queue, does nothing. */
ddp_status ddp_work_fence_before(ddp_work *w, ddp_device *before, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if ddp_work_fence would block now: the sum was started, travels through host memory, and
 * is not made yet. Else, and always with NCCL, return 0. Moves no data. */
int ddp_work_fence_blocks(const ddp_work *w);

/* Fence the sum if it has no fence, and block until it is in buf and the program may read it there.
 * With one rank return at once, even while a GPU computes buf. Fails as ddp_work_fence. */
ddp_status ddp_work_wait(ddp_work *w, ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if every element of the last sum is finite, or none was started; else 0. Every rank gets
 * the same answer, but see DDP_REDUCE_SCATTER. With 0 no element of buf is of use. Call it after
 * each start, when ddp_work_wait, or a fence and ddp_group_synchronize, have returned.
 *
 * A group of one rank differs. On the host the call may read buf as it is then. On a GPU call
 * ddp_device_synchronize before it: else its answer may be about an earlier start. */
int ddp_work_finite(ddp_work *w);

/* Return the event that passes when the sum begins: it was started, and the values in buf were
 * computed. w owns it. On a GPU its time is the GPU's own. Read it only after a fence, and not with
 * one rank or a count of 0, since it may not be recorded then. */
const ddp_device_event *ddp_work_began(const ddp_work *w);
/* Return the event that passes when the sum has ended; w owns it. Read it only after a fence, and
 * not with one rank or a count of 0. */
const ddp_device_event *ddp_work_ended(const ddp_work *w);

/* ---- a sum in two halves ----
 *
 * A sum can be made as a reduce-scatter and, later, an all-gather. Each rank has a share of the
 * buffer (ddp_work_share), which it may change between the two. Both together give the same bits as
 * the whole sum, and with DDP_WIRE_FP32 send no more bytes. */
typedef enum ddp_work_phase {
    DDP_ALLREDUCE, /* the whole sum */
    /* First half: this rank's share becomes the sum; the rest of its buffer is of no use then.
     * ddp_work_finite looks at this share or more: ranks may differ. */
    DDP_REDUCE_SCATTER,
    /* Second half: all ranks get every rank's share, as float32 whatever the sum's wire.
     * ddp_work_finite may look only at the first element of each range of each share. */
    DDP_ALL_GATHER
} ddp_work_phase;

/* Elements begin to end - 1 of a sum. */
typedef struct ddp_range {
    size_t begin, end;
} ddp_range;

/* Start the sum as ddp_work_start does, or a half of it. Also fails with DDP_ERR_USAGE for a half
 * of an all-gather, and for DDP_REDUCE_SCATTER of float32 by NCCL if ddp_gpu_config.exact is 0. */
ddp_status ddp_work_start_phase(ddp_work *w, ddp_work_phase phase, ddp_error *err) DDP_MUST_CHECK;

/* Return this rank's share of a sum: *count ranges of elements, in order, none empty. In a group of
 * one rank it is the whole sum. Sums of one size on one device have the same share until a
 * ddp_group_use_schedule. The caller frees *ranges; on failure there is nothing to free. */
ddp_status ddp_work_share(const ddp_work *w, ddp_range **ranges, size_t *count,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
