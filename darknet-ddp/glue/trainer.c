#include "glue/trainer.h"

#include "base/clock.h"
#include "core/agree.h"
#include "core/buffers.h"
#include "core/joint_moments.h"
#include "core/one_value.h"
#include "core/same.h"
#include "core/statistics.h"
#include "core/verify.h"
#include "glue/fingerprint.h"
#include "glue/position.h"
#include "glue/support.h"
#include "glue/table.h"

#include <darknet.h>
#include <limits.h>
#include <network.h>
#include <string.h>

enum { BAD_SAMPLES }; /* a count that travels with the loss */

enum phase { OUTSIDE, FORWARD, BACKWARD, UPDATE, PHASES };

struct ddp_trainer {
    ddp_group *group;
    ddp_trainer_config config;
    ddp_exact_run cut; /* what was cut into batch */
    ddp_batch batch;

    network *net; /* NULL: not attached */
    train_hooks hooks;
    ddp_table table;
    ddp_reducer *reducer;
    ddp_statistics *statistics;
    ddp_joint_moments *moments; /* NULL: each rank's BatchNorm has its own mini-batch */
    joint_statistics joint;
    char *deferred; /* per layer: its update waits for the next forward pass */
    ddp_loss *loss;
    float last_loss; /* as Darknet was last told it, a sum over a rank's images of a step */
    ddp_guard guard;
    ddp_verify *verify; /* NULL: ranks compare nothing */
    int verifying;      /* with the loss of this step */
    int update_begins;  /* with this mini-batch */
    struct {
        ddp_allreduce *sum; /* NULL: nobody ends for them */
        int started;
        float samples; /* of this step: this rank's, then all ranks' */
        size_t step;   /* the one under way */
        size_t images; /* that the last whole update had learnt from */
    } bad;
    int judged, dropped; /* this step's updates: where steps may be dropped */

    int64_t waited_ns;  /* outside the reducer, since attach */
    int64_t stalled_ns; /* by the group's count, when attached */

    enum phase phase; /* what goes on now */
    int64_t phase_ns; /* began then, */
    int64_t phase_communication_ns;
    int64_t spent_ns[PHASES];
};

ddp_status ddp_trainer_open(ddp_trainer **out, ddp_group *group, const ddp_trainer_config *config,
                            ddp_error *err)
{
    ddp_trainer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a trainer");
    t->group = group;
    t->config = *config;
    *out = t;
    return DDP_OK;
}

void ddp_trainer_close(ddp_trainer *t)
{
    if (!t)
        return;
    ddp_trainer_detach(t);
    free(t);
}

ddp_status ddp_trainer_split(ddp_trainer *t, int *batch, int *subdivisions, ddp_error *err)
{
    ddp_exact_run run = {.batch = *batch,
                         .subdivisions = *subdivisions,
                         .ranks = ddp_group_size(t->group),
                         .mode = t->config.batch_mode,
                         .sync_every = t->config.sync_every,
                         .broadcast_buffers = t->config.broadcast_buffers,
                         .names = t->config.reducer.names};
    ddp_status st = t->config.exact ? ddp_exact_check(&run, err) : DDP_OK;

    if (!st)
        st = ddp_batch_split(&t->batch, *batch, *subdivisions, run.ranks, t->config.batch_mode,
                             run.names, err);
    if (st)
        return st;
    t->cut = run;
    *batch = t->batch.batch;
    *subdivisions = t->batch.subdivisions;
    return DDP_OK;
}

ddp_batch ddp_trainer_batch(const ddp_trainer *t)
{
    return t->batch;
}

/* ---- hooks: Darknet calls these; an error ends the program ---- */

static void check(const ddp_trainer *t, ddp_status st, const ddp_error *err)
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

/* What goes on from here. Communication is nobody's time but its own. */
static void enter(ddp_trainer *t, enum phase phase)
{
    int64_t now = ddp_clock_ns();
    int64_t communication_ns = ddp_trainer_communication_ns(t);

    t->spent_ns[t->phase] += now - t->phase_ns - (communication_ns - t->phase_communication_ns);
    change_range(t->phase, phase);
    t->phase = phase;
    t->phase_ns = now;
    t->phase_communication_ns = communication_ns;
}

/* What waits on a GPU for other ranks has come: before Darknet waits for that GPU, for it would not
 * notice that one is lost. */
static void settle_sums(ddp_trainer *t)
{
    ddp_error err;

    check(t, ddp_group_settle(t->group, &err), &err);
}

/* Something has arrived. */
static void look(ddp_trainer *t, network *net)
{
    ddp_error err;

    check(t, ddp_guard_look(&t->guard, net, &err), &err);
}

/* After a step's last backward pass all ranks have the same parameters: its update is still to
 * come, and the last one's has been computed, in this step's forward pass at the latest. */
static void begin_to_verify(ddp_trainer *t, const ddp_position *now)
{
    if (!t->verify || now->step % (size_t)t->config.verify_every != 0)
        return;
    ddp_loss_compare(t->loss, ddp_verify_take(t->verify, now->step));
    t->verifying = 1;
}

/* ---- samples that cannot be read ----
 * Where the run ends for them, no step may learn from what was loaded in their place. How many a
 * step has is known on each rank when it begins, for all of it is loaded then. The ranks' counts
 * are summed under its first forward pass, behind what still travels, so nobody waits for it: it
 * is there before gradients are. All that this pass changes is statistics, which are kept. */

static void sum_bad_samples(ddp_trainer *t, const network *net, const ddp_position *before)
{
    ddp_error err;

    if (!t->bad.sum || before->begun > 0)
        return;
    check(t, ddp_statistics_keep(t->statistics, &err), &err);
    t->bad.step = before->step + 1;
    t->bad.images = before->images - before->since_update;
    t->bad.samples = (float)ddp_bad_data_count(
        t->config.bad_data, before->images + (size_t)net->batch * (size_t)net->subdivisions);
    t->bad.started = 1;
    check(t, ddp_allreduce_start(t->bad.sum, &err), &err);
}

static void finish_bad_samples(ddp_trainer *t)
{
    int64_t start = ddp_clock_ns();
    ddp_error err;

    if (!t->bad.started)
        return;
    t->bad.started = 0;
    ddp_watch_wait(t->config.reducer.watch, -1, -1);
    check(t, ddp_allreduce_wait(t->bad.sum, &err), &err);
    t->waited_ns += ddp_clock_ns() - start;
}

/* Before the first backward pass: nothing of this step has reached a gradient. */
static void end_at_bad_samples(ddp_trainer *t, network *net)
{
    ddp_error err;

    if (!t->bad.started)
        return;
    finish_bad_samples(t);
    if (t->bad.samples <= 0)
        return;
    check(t, ddp_statistics_restore(t->statistics, &err), &err);
    *net->seen = t->bad.images;
    t->config.unreadable(net, t->bad.step, (size_t)t->bad.samples);
}

/* Where others are trained with in their place. */
static void tell_bad_samples(ddp_trainer *t, const ddp_position *now)
{
    if (t->config.bad_data && !t->bad.sum)
        ddp_loss_tell(t->loss, BAD_SAMPLES, ddp_bad_data_count(t->config.bad_data, now->images));
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
        check(t, ddp_verify_find(t->verify, &err), &err);
}

static void before_forward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_position before = ddp_position_of(net);
    int64_t start = ddp_clock_ns();
    ddp_error err;

    enter(t, FORWARD);
    ddp_watch_step(t->config.reducer.watch, before.step + 1, before.begun);
    ddp_watch_phase(t->config.reducer.watch, DDP_PHASE_FORWARD);
    check(t, ddp_statistics_begin(t->statistics, &err), &err);
    settle_sums(t);
    check(t, ddp_loss_finish(t->loss, &err), &err); /* where nobody asked for it */
    verify(t);
    t->waited_ns += ddp_clock_ns() - start;
    look(t, net);
    t->update_begins = before.since_update == 0;
    if (t->update_begins && ddp_guard_drops(&t->guard))
        check(t, ddp_statistics_keep(t->statistics, &err), &err);
    sum_bad_samples(t, net, &before);
}

/* The layer's update that the last step left for now. */
static void update_deferred(ddp_trainer *t, network *net, int layer_index)
{
    ddp_error err;
    int used;

    if (!t->deferred[layer_index])
        return;
    t->deferred[layer_index] = 0;
    check(t, ddp_reducer_layer_wait(t->reducer, layer_index, &used, &err), &err);
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

    settle_layers(t, net);
    check(t, ddp_statistics_settle(t->statistics, &err), &err);
    settle_sums(t);
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
    if (net->train)
        ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_FORWARD, layer_index);
    else
        ddp_watch_moved(t->config.reducer.watch);
    check(t, ddp_reducer_progress(t->reducer, &err), &err);
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

    enter(t, BACKWARD);
    settle_layers(t, net);
    end_at_bad_samples(t, net);
    ddp_watch_phase(t->config.reducer.watch, DDP_PHASE_BACKWARD);
    ddp_statistics_fold(t->statistics, now.mini_batch);
    ddp_reducer_backward_begin(t->reducer, now.update_ends);
    ddp_reducer_freeze(t->reducer, first_thawed(net));
    t->judged = 0;
}

static void on_gradient_ready(void *ctx, int layer_index)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    ddp_watch_layer(t->config.reducer.watch, DDP_PHASE_BACKWARD, layer_index);
    check(t, ddp_reducer_layer_ready(t->reducer, layer_index, &err), &err);
}

static void on_progress(void *ctx)
{
    ddp_trainer *t = ctx;
    ddp_error err;

    ddp_watch_moved(t->config.reducer.watch);
    check(t, ddp_reducer_progress(t->reducer, &err), &err);
}

static void after_backward(void *ctx, network *net)
{
    ddp_trainer *t = ctx;
    ddp_position now = ddp_position_of(net);
    ddp_error err;

    check(t, ddp_guard_mini_batch_ended(&t->guard, net, t->update_begins, now.mini_batch + 1, &err),
          &err);
    ddp_loss_add(t->loss, now.mini_batch, *net->cost);
    check(t, ddp_reducer_backward_end(t->reducer, &err), &err);
    if (now.step_ends && t->config.broadcast_buffers)
        check(t, ddp_statistics_start(t->statistics, &err), &err);
    if (now.step_ends) {
        begin_to_verify(t, &now);
        tell_bad_samples(t, &now);
        check(t, ddp_loss_start(t->loss, &err), &err);
    }
    if (now.update_ends)
        check(t, ddp_reducer_launch_deferred(t->reducer, &err), &err);
    enter(t, now.update_ends ? UPDATE : OUTSIDE);
}

/* Where a step may be dropped, none of it is used before all of it is known. */
static int is_dropped(ddp_trainer *t)
{
    ddp_error err;

    if (ddp_guard_drops(&t->guard) && !t->judged) {
        check(t, ddp_guard_judge(&t->guard, t->net, &t->dropped, &err), &err);
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
    if (ddp_reducer_is_deferred(t->reducer, layer_index)) {
        t->deferred[layer_index] = 1;
        return 0;
    }
    check(t, ddp_reducer_layer_fence(t->reducer, layer_index, &used, &err), &err);
    look(t, t->net);
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
    ddp_watch_wait(t->config.reducer.watch, -1, -1);
    if (!t->judged) /* else it has arrived */
        check(t, ddp_loss_start(t->loss, &err), &err);
    check(t, ddp_loss_finish(t->loss, &err), &err);
    verify(t);
    mean = ddp_loss_take(t->loss);
    t->last_loss = mean;
    t->waited_ns += ddp_clock_ns() - start;
    enter(t, OUTSIDE);
    if (!ddp_guard_drops(&t->guard))
        look(t, t->net);
    return mean;
}

/* ---- BatchNorm over all ranks: forward and backward wait for each other ---- */

/* Whoever is waited for has not come here. */
static int64_t begin_to_join(const ddp_trainer *t)
{
    ddp_watch_wait(t->config.reducer.watch, -1, -1);
    return ddp_clock_ns();
}

static void end_to_join(ddp_trainer *t, int64_t began_ns)
{
    t->waited_ns += ddp_clock_ns() - began_ns;
    ddp_watch_phase(t->config.reducer.watch,
                    t->phase == BACKWARD ? DDP_PHASE_BACKWARD : DDP_PHASE_FORWARD);
}

static void settle_before_joining(void *ctx)
{
    settle_sums(ctx);
}

static void join(void *ctx, int channels, float count, float *means, float *squares)
{
    ddp_trainer *t = ctx;
    int64_t began_ns = begin_to_join(t);
    ddp_error err;

    check(t,
          ddp_joint_moments_join(t->moments, (size_t)channels, (double)count, means, squares, &err),
          &err);
    end_to_join(t, began_ns);
}

static void average(void *ctx, int channels, float *a, float *b)
{
    ddp_trainer *t = ctx;
    int64_t began_ns = begin_to_join(t);
    ddp_error err;

    check(t, ddp_joint_moments_average(t->moments, (size_t)channels, a, b, &err), &err);
    end_to_join(t, began_ns);
}

static ddp_status join_batch_norm(ddp_trainer *t, network *net, ddp_error *err)
{
    if (!t->config.sync_bn || ddp_group_size(t->group) == 1)
        return DDP_OK;
    t->joint = (joint_statistics){
        .ctx = t, .settle = settle_before_joining, .join = join, .average = average};
    net->statistics = &t->joint;
    return ddp_joint_moments_open(&t->moments, t->group, err);
}

static void before_free(void *ctx, network *net)
{
    (void)net;
    ddp_trainer_detach(ctx);
}

/* ---- attaching ---- */

/* Rank 0's counters. Update happens when seen is a multiple of an update's
 * images, so a count in between would shift every update that follows. */
static ddp_status share_counters(ddp_trainer *t, network *net, ddp_error *err)
{
    if (ddp_broadcast(t->group, net->seen, sizeof *net->seen, 0, err))
        return ddp_wrap(err, "seen");
    if (ddp_broadcast(t->group, net->t, sizeof *net->t, 0, err))
        return ddp_wrap(err, "t");
    if (ddp_broadcast(t->group, &net->average_loss, sizeof net->average_loss, 0, err))
        return ddp_wrap(err, "average loss");
    *net->seen -= ddp_position_of(net).since_update;
    return DDP_OK;
}

static ddp_status share_state(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_status st = share_counters(t, net, err);

    if (!st)
        st = ddp_params_broadcast(t->group, &t->table, err);
    if (st)
        return st;
    return ddp_statistics_open(&t->statistics, t->group, &t->table, t->config.reducer.mini_batches,
                               err);
}

static ddp_status compare_ranks(ddp_trainer *t, network *net, ddp_error *err)
{
    char *text;
    ddp_status st = ddp_fingerprint(&text, net, &t->table, t->config.seed, err);

    if (!st)
        st = ddp_agree(t->group, text, err);
    free(text);
    return st;
}

static ddp_device *device_of(const ddp_trainer *t, const network *net)
{
    return net->gpu_index < 0 ? ddp_device_host() : ddp_group_device(t->group);
}

static ddp_status set_batch(ddp_trainer *t, network *net, ddp_error *err)
{
    int size = ddp_group_size(t->group);
    double images = (double)net->batch * net->subdivisions * t->config.sync_every;

    if (images > INT_MAX)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "an update of %.0f images is more than the %d that Darknet can count",
                        images, INT_MAX);
    net->world = size;
    net->rank = ddp_group_rank(t->group);
    net->accumulate = t->config.sync_every;
    t->batch.time_steps = net->time_steps;
    if (t->config.batch_mode == DDP_BATCH_RANK)
        net->learning_rate *= (float)size;
    return DDP_OK;
}

static ddp_status check_values(const ddp_trainer *t, const network *net, ddp_error *err)
{
    int layer = ddp_layer_with_one_value(net);

    if (layer < 0 || (t->config.sync_bn && ddp_group_size(t->group) > 1))
        return DDP_OK;
    return ddp_refuse_one_value(&t->cut, t->config.exact, layer,
                                get_layer_string(net->layers[layer].type), err);
}

ddp_status ddp_trainer_attach(ddp_trainer *t, network *net, ddp_error *err)
{
    ddp_status st = check_values(t, net, err);

    if (!st)
        st = set_batch(t, net, err);
    if (!st)
        st = ddp_table_init(&t->table, net, device_of(t, net), err);
    if (st)
        return st;
    t->config.reducer.mini_batches = t->config.exact ? t->batch.per_rank : 0;
    if (t->config.guard.skip_most > 0)
        t->config.reducer.defer_bytes = 0;
    t->deferred = calloc((size_t)net->n, 1);
    if (!t->deferred) {
        ddp_table_release(&t->table);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d layers", net->n);
    }
    st = compare_ranks(t, net, err);
    if (!st)
        st = share_state(t, net, err);
    if (!st)
        st = join_batch_norm(t, net, err);
    if (!st)
        st = ddp_reducer_open(&t->reducer, t->group, &t->table, &t->config.reducer, err);
    if (!st)
        st =
            ddp_loss_open(&t->loss, t->group, t->config.reducer.mini_batches, t->config.asked, err);
    if (!st && t->config.verify_every > 0 && ddp_group_size(t->group) > 1
        && ddp_group_size(t->group) <= DDP_SAME_RANKS)
        st = ddp_verify_open(&t->verify, t->group, &t->table, t->statistics, err);
    if (!st && t->config.bad_data && t->config.unreadable)
        st = ddp_allreduce_open(&t->bad.sum, t->group, &t->bad.samples, 1, err);
    t->guard =
        ddp_guard_open(&t->config.guard, t->group, &t->table, t->reducer, t->loss, t->statistics);
    t->net = net;
    t->waited_ns = 0;
    t->stalled_ns = ddp_group_stalled_ns(t->group);
    if (st) {
        ddp_trainer_detach(t);
        return st;
    }
    t->hooks = (train_hooks){
        .ctx = t,
        .forward_begin = before_forward,
        .forward_layer = before_layer,
        .backward_begin = before_backward,
        .gradient_ready = on_gradient_ready,
        .progress = on_progress,
        .backward_end = after_backward,
        .update_layer = before_update,
        .mean_loss = mean_loss,
        .settle = settle,
        .release = before_free,
    };
    net->hooks = &t->hooks;
    t->phase = OUTSIDE;
    t->phase_ns = ddp_clock_ns();
    t->phase_communication_ns = ddp_trainer_communication_ns(t);
    memset(t->spent_ns, 0, sizeof t->spent_ns);
    return DDP_OK;
}

void ddp_trainer_settle(ddp_trainer *t)
{
    settle(t, t->net);
}

/* Finish what is on its way: other ranks count on this one's part. */
static void drain(ddp_trainer *t)
{
    ddp_error err;

    settle(t, t->net);
    finish_bad_samples(t);
    check(t, ddp_loss_finish(t->loss, &err), &err);
}

void ddp_trainer_detach(ddp_trainer *t)
{
    if (!t->net)
        return;
    if (t->net->hooks)
        drain(t);
    ddp_reducer_close(t->reducer);
    ddp_statistics_close(t->statistics);
    ddp_joint_moments_close(t->moments);
    ddp_loss_close(t->loss);
    ddp_allreduce_close(t->bad.sum);
    ddp_verify_close(t->verify);
    ddp_table_release(&t->table);
    free(t->deferred);
    t->deferred = NULL;
    t->reducer = NULL;
    t->statistics = NULL;
    t->moments = NULL;
    t->loss = NULL;
    t->bad.sum = NULL;
    t->verify = NULL;
    t->verifying = 0;
    t->net->hooks = NULL;
    t->net->statistics = NULL;
    t->net = NULL;
}

double ddp_trainer_loss(const ddp_trainer *t)
{
    return (double)t->last_loss / ((double)t->batch.per_rank * t->batch.images);
}

size_t ddp_trainer_bad_samples(const ddp_trainer *t)
{
    return ddp_loss_told(t->loss, BAD_SAMPLES);
}

ddp_requests ddp_trainer_requested(const ddp_trainer *t)
{
    return ddp_loss_requested(t->loss);
}

ddp_reducer *ddp_trainer_reducer(const ddp_trainer *t)
{
    return t->reducer;
}

const ddp_table *ddp_trainer_table(const ddp_trainer *t)
{
    return &t->table;
}

int64_t ddp_trainer_communication_ns(const ddp_trainer *t)
{
    ddp_reducer_times times = ddp_reducer_total_times(t->reducer);

    /* The program runs ahead of a GPU: what it waits for costs nothing while the GPU works. */
    if (!ddp_device_is_host(t->table.device))
        return ddp_group_stalled_ns(t->group) - t->stalled_ns;
    return times.wait_ns + times.drive_ns + t->waited_ns;
}

ddp_trainer_times ddp_trainer_total_times(ddp_trainer *t)
{
    int host = ddp_device_is_host(t->table.device);

    enter(t, t->phase);
    return (ddp_trainer_times){.forward_ns = host ? t->spent_ns[FORWARD] : 0,
                               .backward_ns = host ? t->spent_ns[BACKWARD] : 0,
                               .update_ns = host ? t->spent_ns[UPDATE] : 0,
                               .outside_ns = t->spent_ns[OUTSIDE]};
}
