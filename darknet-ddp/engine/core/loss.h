/* core/loss.h: the loss of a step over all ranks, and the requests and checksums that travel with
 * it.
 *
 * A rank adds the loss of each mini-batch; at the end of a step the sum leaves for the
 * other ranks. What any rank was asked for by then (to save, to stop, to tell) is known to all
 * when the sum has arrived: in the same step on every rank.
 */
#ifndef DDP_CORE_LOSS_H
#define DDP_CORE_LOSS_H

#include "base/status.h"
#include "comm/group.h"

#include <signal.h>
#include <stdint.h>

typedef struct ddp_loss ddp_loss;

typedef enum ddp_request {
    DDP_REQUEST_SAVE,
    DDP_REQUEST_STOP,
    DDP_REQUEST_TELL, /* how each rank fares */
    DDP_REQUESTS
} ddp_request;

/* What some rank was asked for, each 0 or 1. */
typedef struct ddp_requests {
    int save, stop, tell;
} ddp_requests;

/* mini_batches  0, or: sum the mini-batches of a step in the tree of core/tree_sum.h; how many
 *         these are on each rank, a power of two
 * asked   DDP_REQUESTS flags that anybody may set, in a signal handler too: the next sum
 *         to start takes them along and clears them. NULL: nobody asks
 * group and asked must outlive it. *out is set on success.
 * Fails with DDP_ERR_USAGE, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_loss_open(ddp_loss **out, ddp_group *group, int mini_batches,
                         volatile sig_atomic_t *asked, ddp_error *err) DDP_MUST_CHECK;

/* NULL is allowed. Not with a sum in flight, unless the group failed. */
void ddp_loss_close(ddp_loss *l);

/* The loss of a mini-batch. mini_batch: which of its step's it is on this rank, from 0. */
void ddp_loss_add(ddp_loss *l, int mini_batch, float loss);

/* Start to sum over ranks what was added since the last start, unless a sum is in
 * flight. In the middle of a step the rest of it makes another sum.
 * Fails with DDP_ERR_COMM. */
ddp_status ddp_loss_start(ddp_loss *l, ddp_error *err) DDP_MUST_CHECK;

/* Wait for the sum, if one was started. Fails with DDP_ERR_COMM. */
ddp_status ddp_loss_finish(ddp_loss *l, ddp_error *err) DDP_MUST_CHECK;

/* The mean over ranks of all sums that have arrived since it was last taken. In place of one that
 * is not finite stands the last that was, or 0. */
float ddp_loss_take_mean(ddp_loss *l);

/* Was the last sum that has arrived a finite number? The same on every rank; 1 before the first. */
int ddp_loss_finite(const ddp_loss *l);

/* The next sum to start tells whether all ranks, at most DDP_EQUAL_RANKS, have the same number
 * (core/equal_check.h). All ranks call it before the same sum. */
void ddp_loss_compare_number(ddp_loss *l, uint64_t number);

/* Had they, with the last sum that has arrived? The same on every rank; 1 where nothing was
 * compared, and where the loss was not finite. */
int ddp_loss_numbers_equal(const ddp_loss *l);

/* A count that travels with the next sum to start, and its sum over all ranks that has arrived
 * last. Sums of up to 2^24 are exact. number: below DDP_LOSS_COUNTS. */
enum { DDP_LOSS_COUNTS = 2 };
void ddp_loss_send_count(ddp_loss *l, int number, size_t count);
size_t ddp_loss_received_count(const ddp_loss *l, int number);

/* What came with the last sum that has arrived: the same on every rank. */
ddp_requests ddp_loss_requested(const ddp_loss *l);

#endif
