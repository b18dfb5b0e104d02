/* trainer/nan_guard.h: sees that a step's loss, gradients and BatchNorm statistics are finite
 * numbers; if not, the job ends, or the step is skipped, on every rank.
 *
 * Who looks: the code that sums, in the same pass (device/sum.c; on a GPU a kernel on the comm
 * stream). A rank that sums a slice which is not finite makes its first element NaN, and the others
 * look at that one element. So every rank knows in the same step, without a message
 * (ddp_work_finite). A CPU that is alone sums nothing: its update looks as it reads each gradient
 * (net->gradients_seen). So a layer may have been updated when the run ends; nothing of it is
 * saved.
 *
 * To end the job, call ddp_nan_guard_check_arrived wherever something has arrived. To skip steps,
 * no layer may be updated before all sums have arrived: ddp_nan_guard_judge_step, before the first
 * update of a step.
 *
 * Only when something is not finite does the guard look for the origin, in what each rank still
 * has. That is the outputs and deltas of the first mini-batch of the update whose loss was not
 * finite, else of its last one.
 */
#ifndef DDP_TRAINER_NAN_GUARD_H
#define DDP_TRAINER_NAN_GUARD_H

#include "base/status.h"
#include "comm/group.h"
#include "core/batchnorm_stats.h"
#include "core/loss.h"
#include "core/reducer.h"
#include "glue/network.h"

/* The sum that is not finite. */
typedef enum ddp_broken { DDP_BROKEN_GRADIENTS, DDP_BROKEN_LOSS, DDP_BROKEN_STATISTICS } ddp_broken;

/* Where it began on a rank, in the order in which a mini-batch passes there. */
typedef enum ddp_origin {
    DDP_ORIGIN_INPUT,  /* the samples that were loaded */
    DDP_ORIGIN_TRUTH,  /* their labels */
    DDP_ORIGIN_OUTPUT, /* the output of a layer, the first that is not finite */
    DDP_ORIGIN_DELTA,  /* the delta of a layer, the last that is not: backward comes to it first */
    DDP_ORIGIN_LOSS,   /* the loss, and none of those above */
    DDP_ORIGIN_NONE    /* all that is left is finite: sums of gradients are too large */
} ddp_origin;

typedef struct ddp_not_finite {
    size_t step; /* batches so far, this one included */
    ddp_broken broken;
    int first_layer, last_layer; /* whose gradients, with others' between them */

    ddp_origin origin; /* on the rank that came to it first; the lowest of those alike */
    int rank;
    int ranks_alike; /* how many ranks have this origin */
    int layer;
    const char *kind;       /* the layer's type; static */
    int mini_batch;         /* counted in that rank's step, from 1 */
    size_t sample, samples; /* the mini-batch's first sample, and how many it has */
    int in_a_row;           /* steps skipped in a row, up to this one */
} ddp_not_finite;

typedef struct ddp_nan_guard_config {
    int skip_most; /* 0: the first such step ends the job; else skip so many in a row at most */
    /* Called on every rank when a step is skipped. NULL: nobody is told. */
    void (*skipped)(const ddp_not_finite *what);
    /* Called on every rank to end the job. NULL: abort. */
    void (*end)(const ddp_not_finite *what) __attribute__((noreturn));
} ddp_nan_guard_config;

/* A mini-batch of this rank's. */
typedef struct ddp_nan_guard_mini_batch {
    int number; /* in its step, from 1; 0: there is none */
    size_t sample;
    ddp_origin origin; /* if its loss is not finite: where that began, and in which layer */
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
    ddp_nan_guard_mini_batch first_broken; /* in this update, whose loss is not finite */
    size_t step;
    int unseen; /* a step has ended that was not looked at */
    int broken; /* this update has a step whose loss or statistics are not finite */
    int in_a_row;
    int updated_layer; /* set by the caller before it checks: the layer that was updated last */
} ddp_nan_guard;

/* Return a guard. All that it points to must outlive it; nothing has to be closed. */
ddp_nan_guard ddp_nan_guard_open(const ddp_nan_guard_config *config, ddp_group *group,
                                 const ddp_param_table *table, ddp_reducer *reducer, ddp_loss *loss,
                                 ddp_batchnorm_stats *statistics);

/* Return 1 if a step may be skipped. The caller then keeps statistics, and defers nothing. */
int ddp_nan_guard_may_skip(const ddp_nan_guard *g);

/* Note that the backward pass of a mini-batch has ended. first: of an update. number: of this
 * rank's step, from 1. Fails with DDP_ERR_NOMEM, if its loss is not finite. */
ddp_status ddp_nan_guard_end_mini_batch(ddp_nan_guard *g, const network *net, int first, int number,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Check what has arrived; if it is not finite, the job ends here, on every rank. Where steps may be
 * skipped, only remember it: call this before each forward pass then. Fails with DDP_ERR_COMM,
 * DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_check_arrived(ddp_nan_guard *g, network *net,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Where steps may be skipped, before the first update: wait for all sums of the step. If something
 * is not finite, *skipped becomes 1: gradients are zero then, statistics as they were kept, and
 * nothing may be updated. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_judge_step(ddp_nan_guard *g, network *net, int *skipped,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
