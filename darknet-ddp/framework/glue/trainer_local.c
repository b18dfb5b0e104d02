#include "glue/trainer_state.h"

#include "base/clock.h"

#include <math.h>

/* Local SGD: ranks that update on their own, and average (core/local_sgd.h). The loss, and with it
 * what signals ask for, still travels in each step: a few bytes, by which every rank knows the same
 * of every step. */

/* ---- opening ---- */

/* Averages of weights are made, read and saved at steps of their own. */
static ddp_status check_cfg(const network *net, ddp_error *err)
{
    if (net->ema_alpha == 0)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "ema_alpha=%g averages the weights of all ranks at steps where those of local "
                    "SGD differ: set it to 0, or leave out local SGD",
                    (double)net->ema_alpha);
}

ddp_status ddp_trainer_slow_momentum(ddp_trainer *t, network *net, ddp_slow_momentum **out,
                                     ddp_error *err)
{
    *out = NULL;
    if (t->config.local.period == 0 || t->config.local.slow_momentum < 0)
        return DDP_OK;
    if (!t->local.slow
        && ddp_slow_momentum_open(&t->local.slow, net, ddp_group_device(t->group), err))
        return err->code;
    *out = t->local.slow;
    return DDP_OK;
}

ddp_status ddp_trainer_open_local(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_local_sgd_config *config = &t->config.local;
    ddp_slow_momentum *slow;

    if (config->period == 0)
        return DDP_OK;
    if (check_cfg(net, err) || ddp_trainer_slow_momentum(t, net, &slow, err))
        return err->code;
    if (slow && ddp_slow_momentum_broadcast(slow, t->group, err))
        return err->code;
    if (slow)
        ddp_slow_momentum_push(slow);
    if (config->warmup < 0)
        config->warmup = net->burn_in > 0 ? net->burn_in : 0;
    if (slow && config->warmup < net->burn_in)
        return ddp_fail(
            err, DDP_ERR_USAGE,
            "slow momentum divides by the learning rate, which burn_in=%d has begin next "
            "to 0: a warm-up of %d steps is too short, %d are enough",
            net->burn_in, config->warmup, net->burn_in);
    config->last_step = net->max_batches > 0 ? (size_t)net->max_batches : 0;
    return ddp_local_sgd_open(&t->local.sgd, t->group, &t->table, config,
                              slow ? ddp_slow_momentum_there(slow) : NULL, err);
}

void ddp_trainer_close_local(ddp_trainer *t)
{
    ddp_local_sgd_close(t->local.sgd);
    t->local.sgd = NULL;
    t->local.own = 0;
    t->local.average_due = 0;
}

/* ---- a step ---- */

int ddp_trainer_is_own(const ddp_trainer *t, const ddp_position *now)
{
    return now->update_ends && ddp_local_sgd_is_own(t->local.sgd, now->step);
}

/* Where steps may be dropped, all ranks drop them: who has no finite gradients says so by its loss,
 * which all sum. */
void ddp_trainer_end_own_backward(ddp_trainer *t, const ddp_position *now)
{
    int finite;
    ddp_error err;

    if (!t->local.own)
        return;
    t->local.average_due = ddp_local_sgd_ends_period(t->local.sgd, now->step);
    if (!ddp_guard_drops(&t->guard))
        return;
    ddp_trainer_check(t, ddp_reducer_look_own(t->reducer, &finite, &err), &err);
    if (!finite)
        ddp_loss_add(t->loss, now->mini_batch, NAN);
}

int ddp_trainer_update_own(ddp_trainer *t, int layer_index)
{
    int used = ddp_reducer_layer_own(t->reducer, layer_index, ddp_group_size(t->group));

    if (layer_index == t->net->n - 1) /* the first one */
        ddp_local_sgd_begin_update(t->local.sgd, (double)t->net->update.learning_rate);
    ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_UPDATING, layer_index);
    if (!used)
        return 0;
    ddp_local_sgd_ran(t->local.sgd, layer_index);
    t->guard.updated_layer = layer_index;
    return 1;
}

void ddp_trainer_average(ddp_trainer *t)
{
    int64_t start = ddp_clock_ns();
    ddp_error err;

    t->local.average_due = 0;
    if (ddp_trainer_is_alike(t))
        return;
    ddp_watch_wait(t->config.reducer.watch, -1, -1);
    ddp_trainer_check(t, ddp_local_sgd_average(t->local.sgd, &err), &err);
    t->waited_ns += ddp_clock_ns() - start;
}

void ddp_trainer_end_period(ddp_trainer *t)
{
    if (t->local.average_due)
        ddp_trainer_average(t);
}

/* ---- asked about ---- */

int ddp_trainer_is_alike(const ddp_trainer *t)
{
    return ddp_local_sgd_alike(t->local.sgd);
}

size_t ddp_trainer_average_bytes(const ddp_trainer *t)
{
    return t->local.sgd ? ddp_local_sgd_bytes(t->local.sgd) : 0;
}

int ddp_trainer_warmup(const ddp_trainer *t)
{
    return t->config.local.warmup;
}
