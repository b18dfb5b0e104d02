/* algorithms/local_sgd/averaging.h: ranks that learn on their own, and average what they have
 * learnt each H steps.
 *
 * Post-local SGD (Lin et al. 2020, "Don't Use Large Mini-Batches, Use Local SGD"). In the first
 * `warmup` steps ranks sum gradients as always. From then on each updates with its own. Periods of
 * `period` steps are counted from the warm-up's end. After each period, and after the run's last
 * step, every rank's parameters become the mean over ranks. Within a period ranks differ.
 *
 * Slow momentum on top (SlowMo: Wang et al. 2020, algorithm 1). Let x0 be the parameters at a
 * period's beginning, x their mean over ranks at its end, and g the mean of the learning rates of
 * its steps:
 *
 *     u = slow_momentum * u + (x0 - x) / g
 *     parameters = x0 - slow_rate * g * u
 *
 * The paper has one rate for a period. With the mean of several rates, (x0 - x) / g stays the sum
 * of the steps' directions, whatever the schedule. A period whose rates are all 0 has learnt
 * nothing: u stays. With slow_momentum 0 and slow_rate 1 the parameters become x.
 *
 * Choices
 *   A rank's own gradients are multiplied by the number of ranks (ddp_reducer_use_own_gradients).
 * So a step moves by the mean over a rank's own images, at the rate of the whole batch's steps.
 * Momentum and Adam's moments have one scale during and after the warm-up. A period of 1 with plain
 * SGD and no slow momentum gives what summed gradients give, but for rounding.
 *   Momentum and Adam's moments are averaged too (for momentum: Yu, Jin and Yang 2019, "On the
 * Linear Speedup Analysis of Communication Efficient Momentum SGD"), and so are BatchNorm's
 * statistics. After an averaging ranks have nothing of their own, and one state file holds the
 * whole run. The price is twice the bytes of an averaging, three times with Adam.
 *   Parameters and moments of a layer that ran on no rank in a period keep their bits, and are not
 * sent: a small sum tells which layers ran. Statistics are always sent. Each array is one sum of
 * float32, whatever gradients travel as, in the order of comm/work.h. (NCCL has an order of its
 * own, the same on all ranks.) Saves, validation and ddp_replica_check need the same parameters on
 * all ranks, and wait for the next averaging, at most `period` steps. So a run comes to the same
 * weights whether it was saved in between or not. Two cases differ from an unbroken run. A run that
 * ends because samples cannot be read averages in mid-period. A run that goes on with a larger
 * max_batches has averaged after its old last step.
 *
 * In a step after the warm-up the last backward pass does not sync, ddp_trainer_update_locally
 * updates each layer, and only the loss travels. Where a period ends, ddp_trainer_sync_if_due has
 * parameters averaged, between that update and whatever reads or changes parameters next. Code that
 * needs the same parameters on all ranks asks ddp_trainer_in_sync. Slow momentum lies in
 * core/state.c, and is saved. */
#ifndef DDP_ALGORITHMS_LOCAL_SGD_AVERAGING_H
#define DDP_ALGORITHMS_LOCAL_SGD_AVERAGING_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

#include <stddef.h>

typedef struct ddp_local_sgd ddp_local_sgd;

/* How a run averages; the same on every rank. */
typedef struct ddp_local_sgd_config {
    int period;       /* H, steps of a period; above 0 */
    int warmup;       /* how many first steps sum gradients; at least 0 */
    size_t last_step; /* number of the run's last step; 0: not known */
    double
        slow_momentum; /* factor of slow momentum, at least 0 and below 1; below 0: there is none */
    double slow_rate;  /* rate of slow steps, above 0; 1 in the paper's experiments */
} ddp_local_sgd_config;

/* Open the averaging of a table, whose buffers must stay where they are. All pointers but config
 * must outlive *out, which is set on success. With slow momentum, slow[i] is u for parameter i, in
 * memory of table's device; without, slow is NULL. Every rank opens with the same config and table,
 * and with the same values in them. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_local_sgd_open(ddp_local_sgd **out, ddp_group *group, const ddp_param_table *table,
                              const ddp_local_sgd_config *config, float *const *slow,
                              ddp_error *err) DDP_MUST_CHECK;

/* Free l. NULL is allowed. */
void ddp_local_sgd_close(ddp_local_sgd *l);

/* Return 1 if each rank updates with its own gradients in this step, counted from 1. l may be NULL:
 * 0. */
int ddp_local_sgd_is_local_step(const ddp_local_sgd *l, size_t step);

/* Return 1 if ranks average their parameters after this step: the last of a period or of the run.
 * Call it with an l that is not NULL, and only for a step, counted from 1, for which
 * ddp_local_sgd_is_local_step returns 1. */
int ddp_local_sgd_ends_period(const ddp_local_sgd *l, size_t step);

/* Begin the update of a local step, before any layer is updated. rate: the step's learning rate. */
void ddp_local_sgd_begin_update(ddp_local_sgd *l, double rate);

/* Note that a layer ran on this rank in this period, so that it is averaged. */
void ddp_local_sgd_note_layer(ddp_local_sgd *l, int layer);

/* Return 1 if no local step has updated since the last averaging, so that all ranks have the same
 * parameters. The answer is the same on every rank; 1 for NULL. */
int ddp_local_sgd_in_sync(const ddp_local_sgd *l);

/* Average parameters, moments and statistics over ranks. Call after the last update of a period, or
 * between two steps to end one early. Every rank calls it; blocks. Does nothing where ranks are in
 * sync. Fails with DDP_ERR_FORMAT on every rank if a mean is not finite; the text names the array.
 * Fails also with DDP_ERR_COMM. After a failure the arrays are of no use. l may be NULL: in sync.
 */
ddp_status ddp_local_sgd_average_ranks(ddp_local_sgd *l, ddp_error *err) DDP_MUST_CHECK;

/* Return how many bytes an averaging sums on each rank, if every layer ran. */
size_t ddp_local_sgd_bytes(const ddp_local_sgd *l);

#endif
