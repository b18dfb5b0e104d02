/* algorithms/local_sgd/averaging.h: local SGD: each rank trains on its own, and every few steps the
 * ranks average their parameters.
 *
 * Post-local SGD (Lin et al. 2020, "Don't Use Large Mini-Batches, Use Local SGD"). The first
 * `warmup` steps sum gradients over ranks. Every later step is a *local step*: each rank updates
 * with its own gradients. A *period* is `period` local steps. After each period, and after the
 * run's last step, ranks average their parameters. Within a period parameters differ between ranks.
 *
 * Slow momentum (SlowMo: Wang et al. 2020, algorithm 1) is an option. Let x0 be the parameters when
 * a period begins, x their mean over ranks when it ends, and g the mean of the learning rates of
 * its steps:
 *
 *     u = slow_momentum * u + (x0 - x) / g
 *     parameters = x0 - slow_rate * g * u
 *
 * The paper has one rate for a period, so (x0 - x) / g is the sum of the steps' directions. Here
 * the sum is weighted by the steps' rates. If all rates of a period are 0, nothing was learnt, and
 * u stays. With slow_momentum 0 and slow_rate 1 the parameters become x, but for rounding.
 *
 * Scale. A rank multiplies its own gradients by the number of ranks. So a local step moves by the
 * mean over the rank's own images, at the rate of the whole batch. Momentum and Adam's moments have
 * one scale during and after the warm-up.
 *
 * Moments. Momentum and Adam's moments are averaged too (for momentum: Yu, Jin and Yang 2019, "On
 * the Linear Speedup Analysis of Communication Efficient Momentum SGD"), and so are BatchNorm's
 * statistics. After an averaging all ranks have the same state, so one state file holds the whole
 * run.
 *
 * Layers that did not run. A small sum tells which layers ran. If a layer ran on no rank in a
 * period, its parameters and moments keep their bits, and are not sent. Statistics are always sent.
 * Every array is one sum in float32, in the order of comm/work.h (with NCCL, in NCCL's order).
 *
 * Saves. Saves, validation and core/replica_check.h need the same parameters on all ranks. They
 * wait for the next averaging, at most `period` steps, so they do not change the result of a run.
 * Two kinds of runs do differ from an unbroken one. A run that ends because samples cannot be read
 * averages in mid-period. A run that goes on with a larger max_batches has averaged after its old
 * last step. Slow momentum is saved, too (core/state.h).
 *
 * framework/trainer/trainer_steps.c makes local steps and calls this file through local_sgd.c. */
#ifndef DDP_ALGORITHMS_LOCAL_SGD_AVERAGING_H
#define DDP_ALGORITHMS_LOCAL_SGD_AVERAGING_H

#include "base/status.h"
#include "comm/group.h"
#include "core/params.h"

#include <stddef.h>

typedef struct ddp_local_sgd ddp_local_sgd;

/* How a run averages; the same on every rank. */
typedef struct ddp_local_sgd_config {
    int period;       /* H, local steps between two averagings; above 0 */
    int warmup;       /* how many first steps sum gradients; at least 0 */
    size_t last_step; /* number of the run's last step; 0: not known */
    /* factor of slow momentum, at least 0 and below 1; below 0: no slow momentum */
    double slow_momentum;
    double slow_rate; /* factor of a slow step, above 0; 1 in the paper's experiments */
} ddp_local_sgd_config;

/* Open the averaging of a table's trained parameters, their moments, and the statistics. All ranks
 * must have these alike. Every rank calls it. *config is copied. All other pointers must outlive
 * *out, and the table's arrays must not move. *out is set on success.
 *   slow   with slow momentum: slow[i] is u of parameter i, on the table's device; else NULL
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_local_sgd_open(ddp_local_sgd **out, ddp_group *group, const ddp_param_table *table,
                              const ddp_local_sgd_config *config, float *const *slow,
                              ddp_error *err) DDP_MUST_CHECK;

/* Free l. NULL is allowed. */
void ddp_local_sgd_close(ddp_local_sgd *l);

/* Return 1 if step number `step`, from 1, is a local step: each rank updates with its own
 * gradients. Returns 0 if l is NULL. */
int ddp_local_sgd_is_local_step(const ddp_local_sgd *l, size_t step);

/* Return 1 if step number `step`, from 1, is a local step after which ranks average: the last of a
 * period or of the run. Returns 0 if l is NULL. */
int ddp_local_sgd_ends_period(const ddp_local_sgd *l, size_t step);

/* Begin the updates of a local step, at learning rate `rate`. Call before the first layer is
 * updated. */
void ddp_local_sgd_begin_update(ddp_local_sgd *l, double rate);

/* Note that a layer ran on this rank in this period, so that the next averaging includes it. */
void ddp_local_sgd_note_layer(ddp_local_sgd *l, int layer);

/* Return 1 if all ranks have the same parameters: no local step has updated them since the last
 * averaging. The answer is the same on every rank; 1 if l is NULL. */
int ddp_local_sgd_in_sync(const ddp_local_sgd *l);

/* Unless ranks are in sync, average parameters, moments and statistics over ranks, then make the
 * slow step, if any. Every rank calls it between two steps; blocks. In mid-period it ends the
 * period. After a failure the arrays are of no use. Fails with DDP_ERR_FORMAT on every rank if a
 * mean is not finite (the text names the array), and with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_local_sgd_average_ranks(ddp_local_sgd *l, ddp_error *err) DDP_MUST_CHECK;

/* Return how many bytes an averaging sums on each rank, if every layer ran. */
size_t ddp_local_sgd_bytes(const ddp_local_sgd *l);

#endif
