#include "glue/trainer_state.h"

#include "base/clock.h"
#include "glue/position.h"

#include <network.h>
#include <string.h>

/* ---- hooks: Darknet calls these; an error ends the program ---- */

void ddp_trainer_check(const ddp_trainer *t, ddp_status st, const ddp_error *err)
{
    if (st)
        t->config.fail(err);
}

/* For a profiler. Between steps there is none. */
static void change_range(enum phase before, enum phase phase)
{
    static const char *const names[PHASES] = {
        [FORWARD] = "forward", [BACKWARD] = "backward", [UPDATE] = "update"};

    if (phase == before)
        return;
    if (before != OUTSIDE)
        ddp_device_range_pop();
    if (phase != OUTSIDE)
        ddp_device_range_push(names[phase]);
}

void ddp_trainer_enter(ddp_trainer *t, enum phase phase)
{
    int64_t now = ddp_clock_ns();
    int64_t communication_ns = ddp_trainer_communication_ns(t);

    t->spent_ns[t->phase] += now - t->phase_ns - (communication_ns - t->phase_communication_ns);
    change_range(t->phase, phase);
    t->phase = phase;
    t->phase_ns = now;
    t->phase_communication_ns = communication_ns;
}

void ddp_trainer_settle_sums(ddp_trainer *t)
{
    ddp_error err;

    ddp_trainer_check(t, ddp_group_settle(t->group, &err), &err);
}

/* Something has arrived. */
static void look(ddp_trainer *t, network *net)
{
    ddp_error err;

    ddp_trainer_check(t, ddp_guard_look(&t->guard, net, &err), &err);
}

/* After a step's last backward pass all ranks have the same parameters: its update is still to
 * come, and the last one's has been computed, in this step's forward pass at the latest. In a
 * period of local SGD they have not: then in the first step behind it. */
static void begin_to_verify(ddp_trainer *t, const ddp_position *now)
{
    if (!t->verify)
        return;
    t->verify_due |= now->step % (size_t)t->config.verify_every == 0;
    if (!t->verify_due || !ddp_trainer_is_alike(t))
        return;
    t->verify_due = 0;
    ddp_loss_compare(t->loss, ddp_verify_take(t->verify, now->step));
    t->verifying = 1;
}

/* The loss has arrived, and with it what ranks have. */
static void verify(ddp_trainer *t)
{
    ddp_error err;

    if (!t->verifying)
        return;
    t->verifying = 0;
    if (ddp_loss_same(t->loss))
        ddp_verify_passed(t->verify);
    else
        ddp_trainer_check(t, ddp_verify_find(t->verify, &err), &err);
}

/* ---- what is left when backward ends (reducer.priority) ----
 * Ranks tell each other with the loss, and so all plan one order for the next step. */

enum { BACKLOG_UNIT = 1024, EXACT = 1 << 24 }; /* elements of a count; a sum of counts */

static void tell_backlog(ddp_trainer *t)
{
    size_t most = EXACT / (size_t)ddp_group_size(t->group), units;

    if (!t->config.reducer.priority || !ddp_reducer_syncs(t->reducer))
        return;
    units = ddp_reducer_backlog(t->reducer) / BACKLOG_UNIT;
    ddp_loss_tell(t->loss, BACKLOG, units < most ? units : most);
    t->backlog_told = 1;
}

static void plan_order(ddp_trainer *t)
{
    if (!t->backlog_told)
        return;
    t->backlog_told = 0;
    ddp_reducer_adapt(t->reducer, ddp_loss_told(t->loss, BACKLOG) / (size_t)ddp_group_size(t->group)
                                      * BACKLOG_UNIT);
}

static void before_forward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_position before = ddp_position_of(net);
    int64_t start = ddp_clock_ns();
    ddp_error err;

    ddp_trainer_enter(t, FORWARD);
    ddp_watch_step(t->config.reducer.watch, before.step + 1, before.begun);
    ddp_watch_phase(t->config.reducer.watch, DDP_PHASE_FORWARD);
    ddp_trainer_spread(t);
    ddp_trainer_check(t, ddp_statistics_begin(t->statistics, &err), &err);
    ddp_trainer_settle_sums(t);
    ddp_trainer_check(t, ddp_loss_finish(t->loss, &err), &err); /* where nobody asked for it */
    verify(t);
    plan_order(t);
    t->waited_ns += ddp_clock_ns() - start;
    look(t, net);
    ddp_trainer_end_period(t);
    ddp_trainer_choose_blocks(t, &before);
    t->update_begins = before.since_update == 0;
    if (t->update_begins && (ddp_guard_drops(&t->guard) || t->config.bad_data))
        ddp_trainer_check(t, ddp_statistics_keep(t->statistics, &err), &err);
    ddp_trainer_sum_bad_samples(t, net, &before);
}

/* The layer's update, or what other ranks have updated of it, that the last step left for now. */
static void update_deferred(ddp_trainer *t, network *net, int layer_index)
{
    ddp_error err;
    int used;

    if (!t->deferred[layer_index])
        return;
    t->deferred[layer_index] = 0;
    if (ddp_reducer_shard(t->reducer)) {
        ddp_trainer_take(t, layer_index);
        look(t, net);
        return;
    }
    ddp_trainer_check(t, ddp_reducer_layer_wait(t->reducer, layer_index, &used, &err), &err);
    look(t, net);
    if (!used)
        return;
    update_layer_of(net, layer_index);
    t->guard.updated_layer = layer_index;
}

static void settle_layers(ddp_trainer *t, network *net)
{
    for (int layer = net->n - 1; layer >= 0; layer--)
        update_deferred(t, net, layer);
}

/* All that the network holds is about to be read: BatchNorm's statistics too. */
static void settle(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    ddp_trainer_spread(t);
    settle_layers(t, net);
    ddp_trainer_end_period(t);
    ddp_trainer_check(t, ddp_statistics_settle(t->statistics, &err), &err);
    ddp_trainer_settle_sums(t);
    if (!ddp_guard_drops(&t->guard))
        look(t, net);
}

static void before_layer(void *ctx, network *net, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    if (!net->train && layer_index == 0)
        settle(t, net);
    update_deferred(t, net, layer_index);
    t->layer = layer_index;
    if (net->train)
        ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_FORWARD, layer_index);
    else
        ddp_watch_moved(t->config.reducer.watch);
    ddp_trainer_check(t, ddp_reducer_progress(t->reducer, &err), &err);
}

/* Layers before this one learn in a later batch: stopbackward=N. What stopbackward=1 freezes for
 * good is in no bucket (ddp_table.first_trained); set on one rank for one mini-batch it only leaves
 * layers out there. */
static int first_thawed(network *net)
{
    int first = first_learning_layer(net);

    return first > 0 && net->layers[first - 1].stopbackward == 1 ? 0 : first;
}

static void before_backward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_position now = ddp_position_of(net);

    ddp_trainer_enter(t, BACKWARD);
    settle_layers(t, net);
    ddp_trainer_end_at_bad_samples(t, net);
    ddp_watch_phase(t->config.reducer.watch, DDP_PHASE_BACKWARD);
    ddp_statistics_fold(t->statistics, now.mini_batch);
    t->local.own = ddp_trainer_is_own(t, &now);
    ddp_reducer_compress(t->reducer, now.step > t->config.compress_after);
    ddp_reducer_backward_begin(t->reducer, now.update_ends && !t->local.own);
    ddp_reducer_freeze(t->reducer, first_thawed(net));
    ddp_trainer_leave_blocks_out(t);
    t->judged = 0;
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
    ddp_position now = ddp_position_of(net);
    ddp_error err;

    ddp_trainer_check(
        t, ddp_guard_mini_batch_ended(&t->guard, net, t->update_begins, now.mini_batch + 1, &err),
        &err);
    ddp_loss_add(t->loss, now.mini_batch, *net->cost);
    ddp_trainer_check(t, ddp_reducer_backward_end(t->reducer, &err), &err);
    if (now.step_ends && t->config.broadcast_buffers && !t->local.own)
        ddp_trainer_check(t, ddp_statistics_start(t->statistics, &err), &err);
    if (now.step_ends) {
        begin_to_verify(t, &now);
        ddp_trainer_tell_bad_samples(t, &now);
        tell_backlog(t);
        ddp_trainer_end_own_backward(t, &now);
        ddp_trainer_check(t, ddp_loss_start(t->loss, &err), &err);
    }
    if (now.update_ends && !t->local.own)
        ddp_trainer_check(t, ddp_reducer_launch_deferred(t->reducer, &err), &err);
    ddp_trainer_enter(t, now.update_ends ? UPDATE : OUTSIDE);
}

/* Where a step may be dropped, none of it is used before all of it is known. */
static int is_dropped(ddp_trainer *t)
{
    ddp_error err;

    if (ddp_guard_drops(&t->guard) && !t->judged) {
        ddp_trainer_check(t, ddp_guard_judge(&t->guard, t->net, &t->dropped, &err), &err);
        t->judged = 1;
    }
    return t->dropped;
}

/* Darknet updates from the last layer to the first, so layers whose gradients
 * have landed are updated while others still travel. */
static int before_update(void *ctx, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;
    int used;

    if (is_dropped(t))
        return 0;
    if (t->local.own)
        return ddp_trainer_update_own(t, layer_index);
    if (ddp_reducer_is_deferred(t->reducer, layer_index)) {
        t->deferred[layer_index] = 1;
        return 0;
    }
    ddp_trainer_check(t, ddp_reducer_layer_fence(t->reducer, layer_index, &used, &err), &err);
    look(t, t->net);
    if (ddp_reducer_shard(t->reducer)) {
        t->spread_due = 1;
        t->deferred[layer_index] = 1;
    }
    ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_UPDATING, layer_index);
    if (used)
        t->guard.updated_layer = layer_index;
    return used;
}

/* The sum that Darknet has is what t->loss was told, mini-batch by mini-batch; it left for
 * the other ranks at the end of the step. Asked in the middle of one, it goes now. */
static float mean_loss(void *ctx, float loss)
{
    ddp_trainer *t = ctx;
    int64_t start = ddp_clock_ns();
    ddp_error err;
    float mean;

    (void)loss;
    ddp_trainer_spread(t);
    ddp_watch_wait(t->config.reducer.watch, -1, -1);
    if (!t->judged) /* else it has arrived */
        ddp_trainer_check(t, ddp_loss_start(t->loss, &err), &err);
    ddp_trainer_check(t, ddp_loss_finish(t->loss, &err), &err);
    verify(t);
    plan_order(t);
    mean = ddp_loss_take(t->loss);
    t->last_loss = mean;
    t->waited_ns += ddp_clock_ns() - start;
    ddp_trainer_enter(t, OUTSIDE);
    if (!ddp_guard_drops(&t->guard))
        look(t, t->net);
    ddp_trainer_end_period(t);
    return mean;
}

void ddp_trainer_settle(ddp_trainer *t)
{
    settle(t, t->net);
}

static void before_free(void *ctx, network *net)
{
    (void)net;
    ddp_trainer_detach(ctx);
}

void ddp_trainer_hook(ddp_trainer *t, network *net)
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
        .optimize = ddp_reducer_shard(t->reducer) ? ddp_trainer_optimize_share : NULL,
        .mean_loss = mean_loss,
        .settle = settle,
        .release = before_free,
    };
    net->hooks = &t->hooks;
    t->phase = OUTSIDE;
    t->phase_ns = ddp_clock_ns();
    t->phase_communication_ns = ddp_trainer_communication_ns(t);
    memset(t->spent_ns, 0, sizeof t->spent_ns);
}
