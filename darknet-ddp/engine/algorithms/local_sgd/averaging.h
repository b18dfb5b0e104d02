/* algorithms/local_sgd/averaging.h: ranks that learn on their own, and average what they have
 * learnt each H steps.
 *
 * Post-local SGD (Lin et al. 2020, "Don't Use Large Mini-Batches, Use Local SGD"). In the first
 * `warmup` steps ranks sum gradients as always. From then on each updates with its own, and after
 * each `period` steps, counted from the warm-up's end, and after the run's last step, every rank's
 * parameters become the mean over ranks. Between two averagings, in a period, ranks differ.
 *
 * Slow momentum on top (SlowMo: Wang et al. 2020, algorithm 1). Where x0 is what a period began
 * with, x the mean that it came to, and g the mean of its steps' learning rates,
 *
 *     u = slow_momentum * u + (x0 - x) / g
 *     parameters = x0 - slow_rate * g * u
 *
 * The paper has one rate for a period; the mean of several leaves the sum of the steps' directions,
 * whatever the schedule. A period whose rates are all 0 has learnt nothing: u stays. With
 * slow_momentum 0 and slow_rate 1 it is the mean again.
 *
 * Choices
 *   Own gradients are taken times the number of ranks (ddp_reducer_use_own_gradients), so that a
 * step moves by the mean over a rank's own images, at the rate of the whole batch's steps, so
 * momentum and Adam's moments have the same scale during and after the warm-up. With a period of 1,
 * plain SGD and no slow momentum that is, but for rounding, what summed gradients give. What the
 * optimizer remembers of a parameter, momentum or Adam's moments, is averaged too (for momentum:
 * Yu, Jin and Yang 2019, "On the Linear Speedup Analysis of Communication Efficient Momentum SGD").
 * So after an averaging ranks have nothing of their own, and one state file holds the whole run.
 * The price is twice the bytes of an averaging, three times with Adam. So are BatchNorm's
 * statistics: those of one rank's parameters would not fit the mean. A layer that ran on no rank in
 * a period, unused or frozen, keeps its bits, and none of it is sent: a small sum before it tells
 * which layers ran. Sums have one order (comm/work.h), and each array is one sum, of float32
 * whatever gradients travel as: the same bits on all ranks, for every bucket, schedule and
 * transport. (NCCL has an order of its own, the same on all ranks.) Whatever needs the same
 * parameters on all ranks waits for the next averaging, at most `period` steps: saves (after a
 * signal, too), validation, ddp_replica_check. So a run comes to the same weights whether it was
 * saved in between or not, and resumes exactly from any save. Two ends are not saved exactly: where
 * samples cannot be read, the run averages there, in mid-period; where max_batches grew, what was
 * the last step was averaged, too.
 *
 * Under -ddp_local_sgd a step after the warm-up does not sum gradients: its last backward pass does
 * not sync, ddp_trainer_update_locally (trainer/trainer_steps.c) updates each layer with the rank's
 * own gradients times the ranks, and only the loss travels, with what it carries. Where a period
 * ends, ddp_trainer_sync_if_due has parameters averaged: in the program, between that update and
 * whatever reads or changes parameters next (the loss, a forward pass, a save), each array one sum
 * in place. Code that needs the same parameters on all ranks asks ddp_trainer_in_sync and waits:
 * saves in trainer/deferred_saves.c, by trainer/plugin.c; validation in run/step.c; begin_to_verify
 * in trainer/trainer_loss.c. Slow momentum lies in core/state.c, where resuming fills it before a
 * trainer is attached and checkpoints find it; of a GPU's run it lies there as well.
 */
#ifndef DDP_ALGORITHMS_LOCAL_SGD_AVERAGING_H
#define DDP_ALGORITHMS_LOCAL_SGD_AVERAGING_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

#include <stddef.h>

typedef struct ddp_local_sgd ddp_local_sgd;

/* The same on all ranks. */
typedef struct ddp_local_sgd_config {
    int period;           /* steps, H; 0: no local SGD at all */
    int warmup;           /* steps, at least 0 */
    size_t last_step;     /* of the run; 0: not known */
    double slow_momentum; /* at least 0, below 1; less than 0: none */
    double slow_rate;     /* of the slow steps, above 0; 1 in the paper's experiments */
} ddp_local_sgd_config;

/* table is with the buffers where they stay. group and table must outlive it.
 * slow  u of each of the table's parameters, memory of its device, the caller's; NULL without
 *       slow momentum
 * Every rank opens with the same config and table; what they hold must be alike. *out is set on
 * success. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_local_sgd_open(ddp_local_sgd **out, ddp_group *group, const ddp_param_table *table,
                              const ddp_local_sgd_config *config, float *const *slow,
                              ddp_error *err) DDP_MUST_CHECK;

/* NULL is allowed. */
void ddp_local_sgd_close(ddp_local_sgd *l);

/* Does each rank update with its own gradients in this step, from 1? NULL: never. */
int ddp_local_sgd_is_local_step(const ddp_local_sgd *l, size_t step);

/* Is what ranks have averaged when this step has ended? Only of steps of its own. */
int ddp_local_sgd_ends_period(const ddp_local_sgd *l, size_t step);

/* Before the first parameter is updated in a step of its own, at this learning rate. */
void ddp_local_sgd_begin_update(ddp_local_sgd *l, double rate);

/* The layer ran on this rank in this step. */
void ddp_local_sgd_note_layer(ddp_local_sgd *l, int layer);

/* Have all ranks the same? Where no step of its own has updated since the last averaging. The
 * answer is the same on every rank; 1 for NULL. */
int ddp_local_sgd_in_sync(const ddp_local_sgd *l);

/* After the last update of a period, or anywhere between two steps to end one early: average.
 * Blocks until every rank is here; does nothing where ranks are alike. DDP_ERR_FORMAT, on every
 * rank: a mean is not finite; the text names it. Fails also with DDP_ERR_COMM. */
ddp_status ddp_local_sgd_average_ranks(ddp_local_sgd *l, ddp_error *err) DDP_MUST_CHECK;

/* Bytes that an averaging sums on each rank, where every layer ran. */
size_t ddp_local_sgd_bytes(const ddp_local_sgd *l);

#endif
