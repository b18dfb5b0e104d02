/* The hooks that Darknet calls in a step of training (train_hooks in darknet.h), in their order. A
 * plain step of one mini-batch:
 *
 *   before_forward     waits for the last step's loss and BatchNorm statistics
 *   before_layer       a deferred layer (see before_update) is updated before it is read
 *   on_progress        moves messages while layers compute
 *   before_backward    tells the reducer whether ranks will sum the gradients
 *   on_gradient_ready  a layer's gradients are final: a full bucket is launched (core/reducer.h)
 *   after_backward     the other buckets are launched, then statistics, loss and deferred buckets
 *   before_update      waits for a layer's sums, or defers its update to the next forward pass
 *   mean_loss          Darknet asks for the loss of all ranks
 *   settle             does updates that were left for later, since somebody reads the network
 *
 * The way of a gradient is in functions that begin with ddp_reducer. Functions that begin with
 * ddp_trainer look after a run, or do what only some runs ask for. Most are in other files:
 *
 *   trainer_phase.c       how long phases take, and functions that several files call
 *   trainer_nan_guard.c   numbers that are not finite
 *   trainer_loss.c        numbers that travel with the loss
 *   trainer_bad_samples.c samples that cannot be read
 *   trainer_sync_bn.c     BatchNorm over all ranks
 *   trainer_steps.c       steps that each rank updates with its own gradients
 *   trainer_updates.c     updates by an algorithm, and parameters that other ranks have updated
 *   trainer_algorithms.c  opens and attaches algorithms; steps without some layers
 *
 * An error ends the program (ddp_trainer_check), since a hook cannot return one. */
#include "trainer/trainer_state.h"

#include "base/clock.h"

#include <network.h>

/* ---- forward ---- */

/* In local steps statistics do not travel: they are averaged with parameters. */
static int statistics_travel(const ddp_trainer *t, size_t step)
{
    return t->config.broadcast_buffers && !ddp_trainer_is_local(t, step);
}

static void before_forward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_train_position before = ddp_train_position_of(net);
    int64_t start;
    ddp_error err;

    ddp_trainer_enter_phase(t, DDP_TRAINER_FORWARD);
    ddp_watch_step(t->config.reducer.watch, before.step + 1, before.begun);
    ddp_watch_phase(t->config.reducer.watch, DDP_PHASE_FORWARD);
    ddp_trainer_end_updates(t); /* the reducer counts what that waits for */
    start = ddp_clock_ns();
    ddp_trainer_check(t, ddp_batchnorm_stats_begin_forward(t->statistics, &err), &err);
    ddp_trainer_wait_for_sums(t);
    ddp_trainer_check(t, ddp_loss_finish(t->loss, &err), &err); /* where nobody asked for it */
    ddp_trainer_receive_with_loss(t);
    t->waited_ns += ddp_clock_ns() - start;
    ddp_nan_guard_note_step(&t->guard);
    ddp_trainer_check_arrived(t);
    ddp_trainer_sync_if_due(t);
    ddp_trainer_choose_layers(t, &before);
    ddp_trainer_keep_statistics(t, &before);
    if (before.begun == 0 && statistics_travel(t, before.step + 1))
        ddp_batchnorm_stats_begin_step(t->statistics);
    ddp_trainer_sum_bad_samples(t, net, &before);
}

/* Do what the last step's update has left: update the layer, or receive what others updated of it.
 */
static void update_deferred(ddp_trainer *t, network *net, int layer_index)
{
    ddp_error err;
    int used;

    if (!t->deferred[layer_index])
        return;
    t->deferred[layer_index] = 0;
    if (ddp_trainer_receive_updated(t, layer_index))
        return;
    ddp_trainer_check(t, ddp_reducer_layer_wait(t->reducer, layer_index, &used, &err), &err);
    ddp_trainer_check_arrived(t);
    if (!used)
        return;
    update_layer_of(net, layer_index);
    t->guard.updated_layer = layer_index;
}

static void update_all_deferred(ddp_trainer *t, network *net)
{
    for (int layer = net->n - 1; layer >= 0; layer--)
        update_deferred(t, net, layer);
}

static void before_layer(void *ctx, network *net, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    if (!net->train && layer_index == 0)
        ddp_trainer_flush(t);
    update_deferred(t, net, layer_index);
    t->layer = layer_index;
    if (net->train)
        ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_FORWARD, layer_index);
    else
        ddp_watch_moved(t->config.reducer.watch);
    ddp_trainer_check(t, ddp_reducer_progress(t->reducer, &err), &err);
}

/* ---- backward ---- */

/* Layers before this one learn in a later batch: stopbackward=N. What stopbackward=1 freezes for
 * good is in no bucket (ddp_param_table.first_trained); set on one rank for one mini-batch it only
 * leaves layers out there. */
static int first_thawed(network *net)
{
    int first = first_learning_layer(net);

    return first > 0 && net->layers[first - 1].stopbackward == 1 ? 0 : first;
}

static void before_backward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_train_position now = ddp_train_position_of(net);

    ddp_trainer_enter_phase(t, DDP_TRAINER_BACKWARD);
    update_all_deferred(t, net);
    ddp_trainer_end_at_bad_samples(t, net);
    ddp_watch_phase(t->config.reducer.watch, DDP_PHASE_BACKWARD);
    ddp_batchnorm_stats_fold_mini_batch(t->statistics, now.mini_batch);
    t->steps.is_local = now.update_ends && ddp_trainer_is_local(t, now.step);
    ddp_reducer_use_codec(t->reducer, now.step > t->config.compress_after);
    ddp_reducer_backward_begin(t->reducer, now.update_ends && !t->steps.is_local);
    ddp_reducer_freeze_layers(t->reducer, first_thawed(net));
    ddp_trainer_drop_layers(t);
    t->layer = net->n - 1;
}

static void on_gradient_ready(void *ctx, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    t->layer = layer_index > 0 ? layer_index - 1 : 0;
    ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_BACKWARD, layer_index);
    ddp_trainer_check(t, ddp_reducer_layer_ready(t->reducer, layer_index, &err), &err);
}

static void on_progress(void *ctx)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    ddp_watch_moved(t->config.reducer.watch);
    ddp_trainer_check(t, ddp_reducer_progress(t->reducer, &err), &err);
}

static void after_backward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_train_position now = ddp_train_position_of(net);
    ddp_error err;

    ddp_trainer_end_mini_batch(t, &now);
    ddp_loss_add(t->loss, now.mini_batch, *net->cost);
    ddp_trainer_check(t, ddp_reducer_backward_end(t->reducer, &err), &err);
    if (now.step_ends && statistics_travel(t, now.step))
        ddp_trainer_check(t, ddp_batchnorm_stats_start_sum(t->statistics, &err), &err);
    if (now.step_ends) {
        ddp_trainer_send_with_loss(t, &now);
        ddp_trainer_end_local_backward(t, &now);
        ddp_trainer_check(t, ddp_loss_start(t->loss, &err), &err);
    }
    if (now.update_ends && !t->steps.is_local)
        ddp_trainer_check(t, ddp_reducer_launch_deferred(t->reducer, &err), &err);
    ddp_trainer_enter_phase(t, now.update_ends ? DDP_TRAINER_UPDATE : DDP_TRAINER_OUTSIDE);
}

/* ---- update ---- */

/* Darknet updates from the last layer to the first, so layers whose gradients
 * have landed are updated while others still travel. */
static int before_update(void *ctx, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;
    int used;

    if (ddp_trainer_is_step_skipped(t))
        return 0;
    if (t->steps.is_local)
        return ddp_trainer_update_locally(t, layer_index);
    if (ddp_reducer_is_deferred(t->reducer, layer_index)) {
        t->deferred[layer_index] = 1;
        return 0;
    }
    ddp_trainer_check(t, ddp_reducer_layer_fence(t->reducer, layer_index, &used, &err), &err);
    ddp_trainer_check_arrived(t);
    ddp_trainer_expect_updated(t, layer_index);
    ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_UPDATING, layer_index);
    if (used)
        t->guard.updated_layer = layer_index;
    return used;
}

/* ---- loss ---- */

/* The sum that Darknet has is what t->loss was told, mini-batch by mini-batch; it left for
 * the other ranks at the end of the step. Asked in the middle of one, it goes now. */
static float mean_loss(void *ctx, float loss)
{
    ddp_trainer *t = ctx;
    int64_t start;
    ddp_error err;
    float mean;

    (void)loss;
    ddp_trainer_end_updates(t);
    start = ddp_clock_ns();
    ddp_watch_wait(t->config.reducer.watch, -1);
    if (t->verdict == DDP_STEP_NOT_JUDGED) /* else the loss has arrived */
        ddp_trainer_check(t, ddp_loss_start(t->loss, &err), &err);
    ddp_trainer_check(t, ddp_loss_finish(t->loss, &err), &err);
    ddp_trainer_receive_with_loss(t);
    ddp_watch_step_completed(t->config.reducer.watch);
    mean = ddp_loss_take_mean(t->loss);
    t->last_loss = mean;
    t->waited_ns += ddp_clock_ns() - start;
    ddp_trainer_enter_phase(t, DDP_TRAINER_OUTSIDE);
    ddp_trainer_check_arrived(t);
    ddp_trainer_sync_if_due(t);
    return mean;
}

/* ---- between steps ---- */

/* All that the network holds is about to be read: BatchNorm's statistics too. */
static void settle(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    ddp_trainer_end_updates(t);
    update_all_deferred(t, net);
    ddp_trainer_sync_if_due(t);
    ddp_trainer_check(t, ddp_batchnorm_stats_settle(t->statistics, &err), &err);
    ddp_trainer_wait_for_sums(t);
    ddp_trainer_check_arrived(t);
}

void ddp_trainer_flush(ddp_trainer *t)
{
    settle(t, t->net);
}

void ddp_trainer_hook_network(ddp_trainer *t, network *net)
{
    t->hooks = (train_hooks){
        .ctx = t,
        .forward_begin = before_forward,
        .forward_layer = before_layer,
        .backward_begin = before_backward,
        .gradient_ready = on_gradient_ready,
        .progress = on_progress,
        .backward_end = after_backward,
        .update_layer = before_update,
        .optimize = t->updates.plug ? ddp_trainer_optimize : NULL,
        .mean_loss = mean_loss,
        .settle = settle,
    };
    net->hooks = &t->hooks;
    ddp_trainer_begin_times(t);
}
