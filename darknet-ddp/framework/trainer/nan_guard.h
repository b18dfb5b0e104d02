/* trainer/nan_guard.h: sees that a step's loss, gradients and BatchNorm statistics are finite
 * numbers.
 *
 * What ranks sum is looked at as it is summed (ddp_work_finite), so every rank knows in the same
 * step, without a message for it, and does the same: the job ends, or the step is dropped. With one
 * process the update looks at the gradients itself (net->gradients_seen). The origin is looked for
 * only when something is not finite, in what each rank still has: the first mini-batch of the
 * update whose loss was not finite, else its last.
 *
 * To end the job: ddp_nan_guard_check_arrived, wherever something has arrived. If steps may be
 * dropped, no layer may be updated before all sums have arrived: ddp_nan_guard_judge_step, before
 * the first update of a step.
 *
 * The code that sums also checks, in the same pass, whether the sum is finite (device/sum.c): the
 * bits of the exponent, put together by or. Where each rank sums a piece of a chunk, it makes the
 * first element of a piece that is not finite NaN, and the others look at that one when the piece
 * comes; so all know, without a message (ddp_work_finite). On a GPU a kernel on the comm stream
 * looks. A CPU that is alone sums nothing: its update looks, as it reads each gradient anyway
 * (gradients_seen), so a layer may have been updated when the run ends; nothing of it is saved.
 * Where steps may be dropped, it looks before. trainer/nan_guard.c asks wherever a sum has arrived
 * and, once something is wrong, looks for where it began in what each rank still has: the outputs
 * and deltas of its mini-batch.
 */
#ifndef DDP_TRAINER_NAN_GUARD_H
#define DDP_TRAINER_NAN_GUARD_H

#include "base/status.h"
#include "comm/group.h"
#include "core/batchnorm_stats.h"
#include "core/loss.h"
#include "core/reducer.h"
#include "glue/network.h"

/* What was found not to be finite. */
typedef enum ddp_broken { DDP_BROKEN_GRADIENTS, DDP_BROKEN_LOSS, DDP_BROKEN_STATISTICS } ddp_broken;

/* Where on a rank: in the order in which a mini-batch comes to them. */
typedef enum ddp_origin {
    DDP_ORIGIN_INPUT,  /* what was loaded */
    DDP_ORIGIN_TRUTH,  /* its labels */
    DDP_ORIGIN_OUTPUT, /* of a layer, the first whose is not finite */
    DDP_ORIGIN_DELTA,  /* of a layer, the last whose is not: backward comes to it first */
    DDP_ORIGIN_LOSS,   /* and in nothing of those */
    DDP_ORIGIN_NONE    /* all that is left is finite: sums of gradients are too large */
} ddp_origin;

typedef struct ddp_not_finite {
    size_t step; /* batches so far, this one included */
    ddp_broken broken;
    int first_layer, last_layer; /* whose gradients, with others' between them */

    ddp_origin origin; /* on the rank that came to it first; ranks alike: the lowest */
    int rank;
    int ranks_alike;
    int layer;
    const char *kind;       /* the layer's type; static */
    int mini_batch;         /* of that rank's of the step, from 1 */
    size_t sample, samples; /* the mini-batch's first one, and how many */
    int in_a_row;           /* steps that were dropped, up to this one */
} ddp_not_finite;

typedef struct ddp_nan_guard_config {
    int skip_most; /* 0: the first such step ends the job; else drop so many in a row at most */
    /* On every rank: a step was dropped; the job ends. NULL: nobody is told; abort. */
    void (*skipped)(const ddp_not_finite *what);
    void (*end)(const ddp_not_finite *what) __attribute__((noreturn));
} ddp_nan_guard_config;

/* A mini-batch of this rank's. */
typedef struct ddp_nan_guard_mini_batch {
    int number; /* in its step, from 1; 0: there is none */
    size_t sample;
    ddp_origin origin; /* of one whose loss is not finite: why, and in which layer */
    int layer;
} ddp_nan_guard_mini_batch;

/* Fields are nan_guard.c's, but for those that open sets. */
typedef struct ddp_nan_guard {
    ddp_nan_guard_config config;
    ddp_group *group;
    const ddp_param_table *table;
    ddp_reducer *reducer;
    ddp_loss *loss;
    ddp_batchnorm_stats *statistics;

    ddp_nan_guard_mini_batch last;
    ddp_nan_guard_mini_batch first_broken; /* of this update, whose loss is not finite */
    size_t step;
    int unseen; /* a step has ended that was not looked at */
    int broken; /* this update has a step whose loss or statistics are not finite */
    int in_a_row;
    int updated_layer; /* by the caller: the last one that was updated, before it looks */
} ddp_nan_guard;

/* All that it points to must outlive it; nothing has to be closed. */
ddp_nan_guard ddp_nan_guard_open(const ddp_nan_guard_config *config, ddp_group *group,
                                 const ddp_param_table *table, ddp_reducer *reducer, ddp_loss *loss,
                                 ddp_batchnorm_stats *statistics);

/* A step may be dropped: who asks keeps statistics, and defers nothing. */
int ddp_nan_guard_may_skip(const ddp_nan_guard *g);

/* The backward pass of a mini-batch has ended. first: of an update; number: of this rank's in the
 * step, from 1. Fails with DDP_ERR_NOMEM, where its loss is not finite. */
ddp_status ddp_nan_guard_end_mini_batch(ddp_nan_guard *g, const network *net, int first, int number,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Something has arrived: all that has must be finite, or the job ends here, on every rank. Where
 * steps are dropped, only remember it; that is the caller's to ask before each forward pass.
 * Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_check_arrived(ddp_nan_guard *g, network *net,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Where steps are dropped, before the first update: wait for all of the step. *dropped becomes 1
 * where something is not finite; gradients are zero then, statistics as they were kept, and
 * nothing may be updated. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_judge_step(ddp_nan_guard *g, network *net, int *skipped,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
