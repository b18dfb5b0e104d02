/* trainer/nan_guard.h: checks that a step's loss, gradients and BatchNorm statistics are finite
 * numbers. If not, the job ends, or the step is skipped, on every rank.
 *
 * The code that sums also checks (device/sum.c; on a GPU a kernel on the comm stream). If a slice's
 * sum is not finite, its rank makes the first element NaN, at which the others look. So every rank
 * knows in the same step, without a message (ddp_work_finite). A rank that is alone on a CPU sums
 * nothing: its update checks each gradient as it reads it (net->gradients_seen). So layers may have
 * been updated when the run ends; they are not saved.
 *
 * To end the job, call ddp_nan_guard_check_arrived whenever sums have arrived. To skip steps, no
 * layer may be updated before all sums have arrived: call ddp_nan_guard_judge_step before the first
 * update of a step.
 *
 * Only when something is not finite does the guard look for the origin, in what each rank still
 * has. That is the outputs and deltas of one mini-batch: the update's first whose loss was not
 * finite, else its last. */
#ifndef DDP_TRAINER_NAN_GUARD_H
#define DDP_TRAINER_NAN_GUARD_H

#include "base/status.h"
#include "comm/group.h"
#include "core/batchnorm_stats.h"
#include "core/loss.h"
#include "core/reducer.h"
#include "glue/network.h"

/* Which sum over ranks is not finite. */
typedef enum ddp_broken { DDP_BROKEN_GRADIENTS, DDP_BROKEN_LOSS, DDP_BROKEN_STATISTICS } ddp_broken;

/* Where numbers that are not finite began on a rank, in the order in which they are looked for. */
typedef enum ddp_origin {
    DDP_ORIGIN_INPUT,  /* the samples that were loaded */
    DDP_ORIGIN_TRUTH,  /* labels of the samples */
    DDP_ORIGIN_OUTPUT, /* the output of a layer: the first that is not finite */
    DDP_ORIGIN_DELTA, /* the delta of a layer: the last that is not finite, which backward met first
                       */
    DDP_ORIGIN_LOSS,  /* the loss; inputs, outputs and deltas are finite */
    DDP_ORIGIN_NONE   /* no origin found: only sums of gradients have become too large */
} ddp_origin;

/* Facts about a step with numbers that are not finite; the same on every rank. */
typedef struct ddp_not_finite {
    size_t step; /* the step's number, from 1 */
    ddp_broken broken;
    /* With DDP_BROKEN_GRADIENTS: first and last layer of the bucket; on a CPU with one rank, both
     * are the layer that was updated last. Else 0. */
    int first_layer, last_layer;

    ddp_origin origin; /* where numbers ceased to be finite, on rank number `rank` */
    int rank;          /* rank that met the origin first; of several, the lowest */
    int ranks_alike; /* ranks with an origin of this kind in the same mini-batch, `rank` included */
    int layer;       /* layer of the origin; -1: none */
    const char *kind; /* type of `layer`, a static string; "" without a layer */
    int mini_batch;   /* number of the origin's mini-batch in the rank's step, from 1 */
    size_t sample,
        samples;  /* first sample of that mini-batch, counted in the run from 0; how many it has */
    int in_a_row; /* steps skipped in a row: with this one if it is skipped, else those before it */
} ddp_not_finite;

typedef struct ddp_nan_guard_config {
    int skip_most; /* steps that may be skipped in a row; 0: the first broken step ends the job */
    /* Called on every rank when a step is skipped. NULL: nobody is told. */
    void (*skipped)(const ddp_not_finite *what);
    /* Called on every rank to end the job. NULL: abort. */
    void (*end)(const ddp_not_finite *what) __attribute__((noreturn));
} ddp_nan_guard_config;

/* A mini-batch of this rank in which numbers may have ceased to be finite. */
typedef struct ddp_nan_guard_mini_batch {
    int number;        /* number in its step, from 1; 0: none is noted */
    size_t sample;     /* its first sample, counted in the run from 0 */
    ddp_origin origin; /* where numbers ceased to be finite; unused if its loss is finite */
    int layer;         /* layer of `origin`; -1: none */
} ddp_nan_guard_mini_batch;

/* A guard. All fields but updated_layer belong to nan_guard.c. */
typedef struct ddp_nan_guard {
    ddp_nan_guard_config config;
    ddp_group *group;
    const ddp_param_table *table;
    ddp_reducer *reducer;
    ddp_loss *loss;
    ddp_batchnorm_stats *statistics;

    ddp_nan_guard_mini_batch last; /* the mini-batch whose backward pass ended last */
    /* the update's first mini-batch whose loss is not finite; .number is 0 if there is none */
    ddp_nan_guard_mini_batch first_broken;
    size_t step;       /* number of the step under way, from 1 */
    int unseen;        /* 1: the sums of the last step are not checked yet */
    int broken;        /* 1: a step of this update has a loss or statistics that are not finite */
    int in_a_row;      /* steps skipped in a row so far */
    int updated_layer; /* set by the caller before it checks: the layer that was updated last */
} ddp_nan_guard;

/* Return a guard, which needs no closing. *config is copied; the other pointers must outlive it. */
ddp_nan_guard ddp_nan_guard_open(const ddp_nan_guard_config *config, ddp_group *group,
                                 const ddp_param_table *table, ddp_reducer *reducer, ddp_loss *loss,
                                 ddp_batchnorm_stats *statistics);

/* Return 1 if steps may be skipped. The caller then must keep statistics before each update
 * (ddp_batchnorm_stats_keep_values), and may defer no layer. */
int ddp_nan_guard_may_skip(const ddp_nan_guard *g);

/* Note that the backward pass of a mini-batch has ended. Look for the origin if this loss is the
 * update's first that is not finite. `first` is 1 for the first mini-batch of an update. `number`:
 * the mini-batch's number in this rank's step, from 1. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_end_mini_batch(ddp_nan_guard *g, const network *net, int first, int number,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Call before each forward pass. If steps may be skipped, remember for ddp_nan_guard_judge_step
 * whether the loss and statistics of the last step are finite. Else check the gradients, loss and
 * statistics that have arrived. If one is not finite, compare on all ranks where that began
 * (collective), and call config.end, which does not return. Fails with DDP_ERR_COMM,
 * DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_check_arrived(ddp_nan_guard *g, network *net,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Wait for all sums of the step. Set *skipped to 1 if one is not finite, or if an earlier step of
 * this update had a loss or statistics that were not; else to 0. Call on every rank before a layer
 * is updated, if steps may be skipped. A skip zeroes gradients and restores the kept statistics; no
 * layer may be updated. After config.skip_most skips in a row, calls config.end instead. Fails with
 * DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_judge_step(ddp_nan_guard *g, network *net, int *skipped,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
