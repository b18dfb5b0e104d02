/* core/loss.h: the loss of a step over all ranks, and what travels with it: requests, counts and a
 * number that ranks compare.
 *
 *   1. ddp_loss_add                              for each mini-batch
 *   2. ddp_loss_send_count, ddp_loss_compare_number   what the next sum carries besides
 *   3. ddp_loss_start                            at the end of a step
 *   4. ddp_loss_finish                           waits for the sum
 *   5. ddp_loss_take_mean, ddp_loss_finite, ddp_loss_numbers_equal, ddp_loss_received_count and
 *      ddp_loss_requested                        what came with it, the same on every rank */
#ifndef DDP_CORE_LOSS_H
#define DDP_CORE_LOSS_H

#include "base/status.h"
#include "comm/group.h"

#include <signal.h>
#include <stdint.h>

typedef struct ddp_loss ddp_loss;

/* Requests that a rank may get, by a signal for example. */
typedef enum ddp_request {
    DDP_REQUEST_SAVE,
    DDP_REQUEST_STOP,
    DDP_REQUEST_TELL, /* gather how long each rank waits */
    DDP_REQUESTS
} ddp_request;

/* Requests of all ranks: 1 if some rank got it, else 0. */
typedef struct ddp_requests {
    int save, stop, tell;
} ddp_requests;

/* Open the loss of a run. Every rank calls it.
 * mini_batches  how many a step has on each rank, a power of two: sum them in the tree of
 *               core/tree_sum.h; 0: add them up in place
 * asked         asked[q], for each ddp_request q: not 0 asks for it. Anybody may set it, in a
 *               signal handler too; the next ddp_loss_start sends and clears it. NULL: nobody asks
 * group and asked must outlive *out, which is set on success. Fails with DDP_ERR_USAGE (no power
 * of two), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_loss_open(ddp_loss **out, ddp_group *group, int mini_batches,
                         volatile sig_atomic_t *asked, ddp_error *err) DDP_MUST_CHECK;

/* Free l. NULL is allowed. No sum may be in flight, unless the group failed. */
void ddp_loss_close(ddp_loss *l);

/* Add the loss of a mini-batch. mini_batch: its index in its step on this rank, from 0; call in the
 * order of these indices. Not between ddp_loss_start and ddp_loss_finish. */
void ddp_loss_add(ddp_loss *l, int mini_batch, float loss);

/* Start to sum over ranks the losses that were added since the last start. Every rank calls it.
 * Does nothing if a sum was started and not finished. Does not wait. In the middle of a step it
 * sums what is there, and the rest of the step makes another sum. Fails with DDP_ERR_COMM. */
ddp_status ddp_loss_start(ddp_loss *l, ddp_error *err) DDP_MUST_CHECK;

/* Wait for the sum that was started, if there is one. Fails with DDP_ERR_COMM. */
ddp_status ddp_loss_finish(ddp_loss *l, ddp_error *err) DDP_MUST_CHECK;

/* Return the mean over ranks of each rank's added losses. The mean covers all sums that were
 * finished since the last call, added up; 0 if none was. In place of a sum that is not finite the
 * last finite one counts, or 0. */
float ddp_loss_take_mean(ddp_loss *l);

/* Return 0 if the last sum that was finished is not a finite number. Else 1: also during a sum, or
 * before the first. The same on every rank. */
int ddp_loss_finite(const ddp_loss *l);

/* Have the next sum tell whether all ranks, at most DDP_EQUAL_RANKS, have the same number
 * (core/equal_check.h). Every rank calls it before the same ddp_loss_start. When that sum is
 * finished, ddp_loss_numbers_equal has the answer. */
void ddp_loss_compare_number(ddp_loss *l, uint64_t number);

/* Return 0 if numbers of ddp_loss_compare_number came with the last sum and differ; else 1, also
 * where that sum was not finite. The same on every rank. */
int ddp_loss_numbers_equal(const ddp_loss *l);

enum { DDP_LOSS_COUNTS = 2 }; /* how many counts of a rank may travel with one sum */

/* Send this rank's count with the next sum, and only with that one. Replaces a count that still
 * waits to be sent. which: 0 to DDP_LOSS_COUNTS - 1. The sum over ranks is exact up to 2^24. */
void ddp_loss_send_count(ddp_loss *l, int which, size_t count);

/* Return the sum over ranks of the counts of ddp_loss_send_count, as it came with the sum that
 * was finished last; 0 if none was sent. which: 0 to DDP_LOSS_COUNTS - 1. */
size_t ddp_loss_received_count(const ddp_loss *l, int which);

/* Return the requests that any rank had got when the sum that was finished last was started; all 0
 * before the first. The same on every rank. */
ddp_requests ddp_loss_requested(const ddp_loss *l);

#endif
