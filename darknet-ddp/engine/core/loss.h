/* core/loss.h: sums the loss of each step over ranks. The same small allreduce carries a few other
 * numbers: requests (ddp_request), two counts, and a number that ranks compare.
 *
 *   1. ddp_loss_add                              for each mini-batch
 *   2. ddp_loss_send_count, ddp_loss_compare_number   to send other numbers with the next sum
 *   3. ddp_loss_start                            at the end of a step
 *   4. ddp_loss_finish                           to wait for the sum
 *   5. ddp_loss_take_mean, ddp_loss_finite, ddp_loss_numbers_equal, ddp_loss_received_count and
 *      ddp_loss_requested                        to read results, the same on every rank */
#ifndef DDP_CORE_LOSS_H
#define DDP_CORE_LOSS_H

#include "base/status.h"
#include "comm/group.h"

#include <signal.h>
#include <stdint.h>

typedef struct ddp_loss ddp_loss;

/* Requests to all ranks. One rank may get a request, by a signal for example. */
typedef enum ddp_request {
    DDP_REQUEST_SAVE,
    DDP_REQUEST_STOP,
    DDP_REQUEST_WAITS, /* gather how long each rank waits */
    DDP_REQUESTS       /* how many requests there are */
} ddp_request;

/* The requests of all ranks: a member is 1 if some rank got this ddp_request, else 0. */
typedef struct ddp_requests {
    int save, stop, waits;
} ddp_requests;

/* Open the loss of a run. Every rank calls it. group and asked must outlive *out, which is set on
 * success. Fails with DDP_ERR_USAGE (mini_batches is no power of two), DDP_ERR_NOMEM, DDP_ERR_COMM.
 *
 *   mini_batches  how many mini-batches a step has on each rank, a power of two, for the tree of
 *                 core/tree_sum.h. 0: losses are added one after the other
 *   asked         this rank's requests, by ddp_request; NULL: none. A signal handler or other code
 *                 sets asked[q] to 1; the next ddp_loss_start sends request q and sets it to 0 */
ddp_status ddp_loss_open(ddp_loss **out, ddp_group *group, int mini_batches,
                         volatile sig_atomic_t *asked, ddp_error *err) DDP_MUST_CHECK;

/* Free l. NULL is allowed. No sum may be in flight, unless the group failed. */
void ddp_loss_close(ddp_loss *l);

/* Add the loss of a mini-batch. mini_batch: its index in this rank's step; call with 0, 1, 2 and so
 * on. Do not call it between ddp_loss_start and ddp_loss_finish. */
void ddp_loss_add(ddp_loss *l, int mini_batch, float loss);

/* Start the sum over ranks of the losses that were added since the last sum. Every rank calls it,
 * at the end of a step. If it is called earlier, the rest of the step goes into the next sum. Does
 * not wait. Does nothing while the last sum is not finished. Fails with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_loss_start(ddp_loss *l, ddp_error *err) DDP_MUST_CHECK;

/* Wait for the sum that was started, if there is one. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_loss_finish(ddp_loss *l, ddp_error *err) DDP_MUST_CHECK;

/* Return the mean loss of all ranks. The mean of a sum is its losses of all ranks, divided by the
 * number of ranks. The means of all sums finished since the last call are added up; 0 if there was
 * none. A sum that is not finite (ddp_loss_finite) has the mean of the last finite one, or 0. */
float ddp_loss_take_mean(ddp_loss *l);

/* Return 0 if the last sum is finished and had a loss that is NaN, infinite, or so large that a sum
 * of such losses might be infinite. Else return 1, also while a sum is under way, or before the
 * first. The same on every rank. */
int ddp_loss_finite(const ddp_loss *l);

/* Send a number with the next sum, to compare it with other ranks' (core/equal_check.h); at most
 * DDP_EQUAL_RANKS ranks can. Every rank calls it before the same ddp_loss_start. When that sum is
 * finished, ddp_loss_numbers_equal returns whether the numbers are equal. */
void ddp_loss_compare_number(ddp_loss *l, uint64_t number);

/* Return 0 if the numbers that ddp_loss_compare_number sent with the last finished sum differ. Else
 * return 1, also if none were sent. The same on every rank. */
int ddp_loss_numbers_equal(const ddp_loss *l);

enum { DDP_LOSS_COUNTS = 2 }; /* how many counts of a rank may travel with one sum */

/* Send a count of this rank with the next sum, to be summed over ranks; exact up to 2^24. A second
 * call before that sum replaces the count. which: number of the count, 0 to DDP_LOSS_COUNTS - 1. */
void ddp_loss_send_count(ddp_loss *l, int which, size_t count);

/* Return the sum over ranks of count `which`, from the last finished sum; 0 if no rank sent it. */
size_t ddp_loss_received_count(const ddp_loss *l, int which);

/* Return the requests that any rank sent with the last finished sum, whether its loss is finite or
 * not; all 0 before the first. The same on every rank. */
ddp_requests ddp_loss_requested(const ddp_loss *l);

#endif
