/* trainer/nan_guard.h: checks that the sums over ranks of a step's loss, gradients and BatchNorm
 * statistics are finite numbers. If one is not, every rank skips the update, up to skip_most times
 * in a row, or ends the job. A skip sets gradients to zero, and BatchNorm's statistics to those
 * before the update.
 *
 * 1. ddp_nan_guard_end_mini_batch   after each backward pass
 * 2. ddp_nan_guard_check_arrived    whenever sums have arrived, unless steps may be skipped
 * 3. ddp_nan_guard_judge_step       before the first layer is updated, if steps may be skipped
 * 4. ddp_nan_guard_note_step        before each forward pass, if steps may be skipped
 *
 * No messages are needed to check: all ranks look at the same sums (ddp_work_finite) or, with
 * -ddp_shard_optimizer, at the same updated parameters. A rank that is alone on a CPU sums nothing.
 * Unless it may skip, its updates check each gradient that they read (net->gradients_seen). Some
 * layers may then be updated when the job ends, but they are not saved.
 *
 * If a number is not finite, each rank looks for the origin in what it still has of one mini-batch:
 * inputs, labels, outputs and deltas. It takes the update's first mini-batch whose loss is not
 * finite, else the last one. */
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

/* Where numbers that are not finite began on a rank, in the order in which a rank looks. */
typedef enum ddp_origin {
    DDP_ORIGIN_INPUT,  /* pixels of the samples */
    DDP_ORIGIN_TRUTH,  /* labels of the samples */
    DDP_ORIGIN_OUTPUT, /* output of a layer: the first layer whose output is not finite */
    /* delta of a layer: the last layer whose delta is not finite, since its delta is computed
     * first */
    DDP_ORIGIN_DELTA,
    DDP_ORIGIN_LOSS, /* the loss alone: inputs, labels, outputs and deltas are finite */
    DDP_ORIGIN_NONE  /* no origin found: sums of gradients may have become too large */
} ddp_origin;

/* Facts about a step with numbers that are not finite; the same on every rank. */
typedef struct ddp_not_finite {
    size_t step; /* the step's number, from 1; of an update of several steps, the last so far */
    /* the sum that is not finite. If it is of an earlier step of the same update
     * (-ddp_sync_every), DDP_BROKEN_LOSS, whichever sum it is */
    ddp_broken broken;
    /* With DDP_BROKEN_GRADIENTS: first and last layer of the bucket or, if updates check the
     * gradients, the layer that was updated last. Else of no use. */
    int first_layer, last_layer;

    ddp_origin origin; /* where numbers ceased to be finite, on rank number `rank` */
    int rank; /* rank whose origin is first by mini_batch, then kind; of several, the lowest */
    int ranks_alike; /* ranks with an origin of this kind in the same mini-batch, `rank` included */
    int layer;       /* layer of the origin; -1: none */
    const char *kind;     /* type of `layer`, a static string; "" without a layer */
    int mini_batch;       /* mini-batch of the origin: its number, from 1, in its step on `rank` */
    size_t sample;        /* first sample of the origin's mini-batch, counted in the run from 0 */
    size_t samples;       /* number of samples in the origin's mini-batch */
    int skipped_in_a_row; /* updates skipped in a row, with this one if it is skipped */
} ddp_not_finite;

typedef struct ddp_nan_guard_config {
    int skip_most; /* how many updates in a row may be skipped before the job ends; 0: none */
    /* Called on every rank when an update is skipped. NULL: not called. */
    void (*skipped)(const ddp_not_finite *what);
    /* Called on every rank to end the job. NULL: abort. */
    void (*end)(const ddp_not_finite *what) __attribute__((noreturn));
} ddp_nan_guard_config;

/* A mini-batch of this rank in which numbers may have ceased to be finite. */
typedef struct ddp_nan_guard_mini_batch {
    int number;        /* number in its step, from 1; 0: none is noted */
    size_t sample;     /* number in the run, from 0, of the mini-batch's first sample */
    ddp_origin origin; /* where numbers ceased to be finite; not set in ddp_nan_guard.last */
    int layer;         /* layer that `origin` names; -1: none; not set in ddp_nan_guard.last */
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
    size_t step; /* number of the step that `last` is in, from 1 */
    int unnoted; /* 1: a step has ended whose sums were not checked for `broken` yet */
    int broken;  /* 1: a step of this update has a loss or statistics that are not finite */
    int skipped_in_a_row; /* updates skipped in a row so far; an update has sync_every steps */
    int updated_layer;    /* layer that was updated last; the caller sets it */
} ddp_nan_guard;

/* Return a guard, which needs no closing. *config is copied; all else must outlive the guard. */
ddp_nan_guard ddp_nan_guard_open(const ddp_nan_guard_config *config, ddp_group *group,
                                 const ddp_param_table *table, ddp_reducer *reducer, ddp_loss *loss,
                                 ddp_batchnorm_stats *statistics);

/* Return 1 if steps may be skipped (config.skip_most), else 0. With 1 the caller must call
 * ddp_batchnorm_stats_keep_values before the first forward pass of each update, and must not defer
 * a layer's update. */
int ddp_nan_guard_may_skip(const ddp_nan_guard *g);

/* Check a mini-batch's loss on this rank. Call after its backward pass. If it is the update's first
 * loss that is not finite, find its origin. Fails with DDP_ERR_NOMEM.
 *   first    1 for the first mini-batch of an update
 *   number   the mini-batch's number in this rank's step, from 1 */
ddp_status ddp_nan_guard_end_mini_batch(ddp_nan_guard *g, const network *net, int first, int number,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Remember for ddp_nan_guard_judge_step whether the last step's loss and statistics are finite, if
 * steps may be skipped. Call before each forward pass, when the sums of both have arrived. */
void ddp_nan_guard_note_step(ddp_nan_guard *g);

/* Check the sums of gradients, loss and statistics that have arrived. If one is not finite, find
 * out on which rank that began (collective), and call config.end, which does not return. Does
 * nothing if steps may be skipped. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_check_arrived(ddp_nan_guard *g, network *net,
                                       ddp_error *err) DDP_MUST_CHECK;

/* Decide whether the update that is due is skipped, and skip it then (collective). Call before the
 * first layer is updated, if steps may be skipped. Waits for all sums of the step.
 * *skipped becomes 1 if a sum is not finite, or ddp_nan_guard_note_step found one in an earlier
 * step of this update; else 0. If it is 1, the caller must update no layer. If it would be 1 after
 * config.skip_most skipped updates in a row, calls config.end, which does not return. Fails with
 * DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_nan_guard_judge_step(ddp_nan_guard *g, network *net, int *skipped,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
