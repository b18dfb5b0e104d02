/* Steps in which each rank updates its network with its own gradients alone, if the algorithm says
 * so (ddp_step_plug). Afterwards ranks differ, until the algorithm brings them into sync again. */
#include "trainer/trainer_state.h"

#include "base/clock.h"

#include <math.h>

/* ---- a step ---- */

int ddp_trainer_is_local(const ddp_trainer *t, size_t step)
{
    return t->steps.plug && !t->steps.plug->syncs_gradients(t->steps.self, step);
}

/* Where steps may be dropped, all ranks drop them: who has no finite gradients says so by its loss,
 * which all sum. */
void ddp_trainer_end_local_backward(ddp_trainer *t, const ddp_train_position *now)
{
    int finite;
    ddp_error err;

    if (!t->steps.is_local)
        return;
    t->steps.sync_due = t->steps.plug->is_sync_due(t->steps.self, now->step);
    if (!ddp_nan_guard_may_skip(&t->guard))
        return;
    ddp_trainer_check(t, ddp_reducer_check_own_finite(t->reducer, &finite, &err), &err);
    if (!finite)
        ddp_loss_add(t->loss, now->mini_batch, NAN);
}

int ddp_trainer_update_locally(ddp_trainer *t, int layer_index)
{
    int used;

    if (layer_index == t->net->n - 1) /* the first one */
        t->steps.factor =
            t->steps.plug->begin_update(t->steps.self, (double)t->net->update.learning_rate);
    used = ddp_reducer_use_own_gradients(t->reducer, layer_index, t->steps.factor);
    ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_UPDATING, layer_index);
    if (!used)
        return 0;
    t->steps.plug->note_layer(t->steps.self, layer_index);
    t->guard.updated_layer = layer_index;
    return 1;
}

/* ---- sync ---- */

int ddp_trainer_in_sync(const ddp_trainer *t)
{
    return !t->steps.plug || t->steps.plug->in_sync(t->steps.self);
}

size_t ddp_trainer_steps_to_sync(const ddp_trainer *t)
{
    return ddp_trainer_in_sync(t) ? 1 : t->steps.plug->steps_to_sync(t->steps.self);
}

void ddp_trainer_sync(ddp_trainer *t)
{
    int64_t start = ddp_clock_ns();
    ddp_error err;

    t->steps.sync_due = 0;
    if (ddp_trainer_in_sync(t))
        return;
    ddp_watch_wait(t->config.reducer.watch, -1);
    ddp_trainer_check(t, t->steps.plug->sync(t->steps.self, &err), &err);
    t->waited_ns += ddp_clock_ns() - start;
}

void ddp_trainer_sync_if_due(ddp_trainer *t)
{
    if (t->steps.sync_due)
        ddp_trainer_sync(t);
}
