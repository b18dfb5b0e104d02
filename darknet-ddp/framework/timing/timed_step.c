#include "timing/timed_step.h"

#include "comm/group_gpu.h"
#include "glue/train_position.h"
#include "timing/hook_chain.h"
#include "watch/watch.h"

#include <blas.h>
#include <darknet.h>

/* Events: the start, two for each mini-batch, the update's end, the step's end. */
enum { EVENTS_A_MINI_BATCH = 2, OTHER_EVENTS = 3 };

typedef void (*ddp_optimize)(int n, float *w, float *g, float *momentum, float *m, float *v,
                             float rate, float decay, update_args a);

struct ddp_step_clock {
    ddp_hook_chain passing; /* to the hooks of the last step; to none if no trainer takes part */
    const train_hooks *trainers; /* hooks of the last step's trainer; NULL: there is none */
    ddp_group *group;
    ddp_trainer *trainer;
    ddp_watch *watch; /* the trainer's; NULL: none */
    network *net;
    int on_host;
    int mini_batches;
    ddp_device_event **events;
    int event_count;

    /* These belong to the last step. */
    ddp_error failure;
    int mini_batch; /* mini-batch that computes */
    /* Totals of communication: until the step's start; until the end of its last pass so far; until
     * that of its last forward pass; in its forward and backward passes; on the host until the
     * update's end. */
    int64_t before_ns, so_far_ns, between_ns;
    int64_t in_forward_ns, in_backward_ns;
    int64_t after_update_ns;
};

ddp_status ddp_step_clock_open(ddp_step_clock **out, ddp_group *group, ddp_trainer *t, network *net,
                               ddp_error *err)
{
    int mini_batches = ddp_train_position_mini_batches(net);
    ddp_device *device = ddp_group_device(group);
    ddp_step_clock *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a clock");
    *c = (ddp_step_clock){.group = group,
                          .trainer = t,
                          .watch = ddp_trainer_settings(t)->reducer.watch,
                          .net = net,
                          .on_host = ddp_device_is_host(device),
                          .mini_batches = mini_batches,
                          .event_count = EVENTS_A_MINI_BATCH * mini_batches + OTHER_EVENTS};
    c->events = calloc((size_t)c->event_count, sizeof(ddp_device_event *));
    if (!c->events) {
        (void)ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d events", c->event_count);
        ddp_step_clock_close(c);
        return err->code;
    }
    for (int i = 0; i < c->event_count; i++)
        if (ddp_device_event_open(&c->events[i], device, err)) {
            ddp_step_clock_close(c);
            return err->code;
        }
    *out = c;
    return DDP_OK;
}

void ddp_step_clock_close(ddp_step_clock *c)
{
    if (!c)
        return;
    for (int i = 0; c->events && i < c->event_count; i++)
        ddp_device_event_close(c->events[i]);
    free(c->events);
    free(c);
}

/* Read the total of communication so far. On a GPU it waits for all that is queued, so it is called
 * only where training waits for the GPU, too. */
static ddp_status read_communication(const ddp_step_clock *c, int64_t *ns, ddp_error *err)
{
    ddp_status st = ddp_group_synchronize(c->group, err);

    *ns = ddp_trainer_communication_ns(c->trainer);
    return st;
}

/* ---- hooks of Darknet's step: time passes, and the trainer's own does the rest, if it takes part
 * ---- */

/* Read the total, and note an error for the step to return, since a hook cannot. */
static void read_or_note(ddp_step_clock *c, int64_t *ns)
{
    ddp_error err;

    if (read_communication(c, ns, &err) && !c->failure.code)
        c->failure = err;
}

/* In a step alone, too, the watch must see that this rank moves: such steps of a large network may
 * together take longer than its limit. */
static void forward_layer(void *ctx, network *net, int layer)
{
    const ddp_step_clock *c = ctx;

    ddp_watch_moved(c->watch);
    ddp_hook_chain_hooks.forward_layer(ctx, net, layer);
}

static void gradient_ready(void *ctx, int layer)
{
    const ddp_step_clock *c = ctx;

    ddp_watch_moved(c->watch);
    ddp_hook_chain_hooks.gradient_ready(ctx, layer);
}

static void progress(void *ctx)
{
    const ddp_step_clock *c = ctx;

    ddp_watch_moved(c->watch);
    ddp_hook_chain_hooks.progress(ctx);
}

static void backward_begin(void *ctx, network *net)
{
    ddp_step_clock *c = ctx;

    ddp_device_event_record(c->events[EVENTS_A_MINI_BATCH * c->mini_batch + 1]);
    if (c->on_host)
        read_or_note(c, &c->between_ns);
    ddp_hook_chain_hooks.backward_begin(c, net);
}

static void backward_end(void *ctx, network *net)
{
    ddp_step_clock *c = ctx;
    int64_t before = c->so_far_ns;

    ddp_hook_chain_hooks.backward_end(c, net);
    ddp_device_event_record(c->events[EVENTS_A_MINI_BATCH * c->mini_batch + 2]);
    read_or_note(c, &c->so_far_ns);
    if (!c->on_host)
        c->between_ns = c->so_far_ns; /* no work of a backward pass waits for sums */
    c->in_forward_ns += c->between_ns - before;
    c->in_backward_ns += c->so_far_ns - c->between_ns;
    c->mini_batch++;
}

#ifdef GPU
/* Update an array in a step alone, of a rank that shares out its moments. The rank has only its
 * share's moments, on a GPU in no other memory. What it does not update must not add up from step
 * to step. */
static void optimize_share(int n, float *w, float *g, float *momentum, float *m, float *v,
                           float rate, float decay, update_args a)
{
    const ddp_step_clock *c = a.optimize_ctx;

    a.optimize_ctx = c->trainers->ctx;
    c->trainers->optimize(n, w, g, momentum, m, v, rate, decay, a);
    fill_gpu(n, 0, g, 1);
}
#endif

/* Return how the step's update goes through the arrays; NULL: as Darknet does, all at once. */
static ddp_optimize optimize_of(const ddp_step_clock *c, const train_hooks *trainers, int alone)
{
    (void)c, (void)alone;
    if (!trainers || !trainers->optimize)
        return NULL;
#ifdef GPU
    if (!c->on_host && alone)
        return optimize_share;
#endif
    return ddp_hook_chain_hooks.optimize;
}

static void run(ddp_step_clock *c)
{
    ddp_device_event_record(c->events[0]);
    while (c->mini_batch < c->mini_batches)
        (void)train_network_datum(c->net); /* the last one updates */
    ddp_device_event_record(c->events[c->event_count - 2]);
    c->after_update_ns = ddp_trainer_communication_ns(c->trainer);
    (void)train_mean_loss(c->net, *c->net->cost);
    ddp_device_event_record(c->events[c->event_count - 1]);
}

ddp_status ddp_step_run(ddp_step_clock *c, int alone, ddp_error *err)
{
    const train_hooks *trainers = c->net->hooks;
    const joint_statistics *joint = c->net->statistics;
    train_hooks timed = ddp_hook_chain_hooks;

    timed.ctx = c;
    timed.forward_layer = forward_layer;
    timed.gradient_ready = gradient_ready;
    timed.progress = progress;
    timed.backward_begin = backward_begin;
    timed.backward_end = backward_end;
    timed.optimize = optimize_of(c, trainers, alone);
    c->trainers = trainers;
    c->passing.inner = alone ? NULL : trainers;
    c->failure.code = DDP_OK;
    c->mini_batch = 0;
    c->in_forward_ns = 0;
    c->in_backward_ns = 0;
    if (read_communication(c, &c->before_ns, err))
        return err->code;
    c->so_far_ns = c->before_ns;
    c->net->hooks = &timed;
    if (alone)
        c->net->statistics = NULL;
    run(c);
    c->net->hooks = trainers;
    c->net->statistics = joint;
    if (c->failure.code)
        *err = c->failure;
    return c->failure.code;
}

ddp_status ddp_step_read(ddp_step_clock *c, ddp_timed_step *times, ddp_error *err)
{
    ddp_device_event *const *events = c->events;
    int64_t end_ns;

    *times = (ddp_timed_step){0};
    ddp_device_synchronize(ddp_group_device(c->group));
    if (read_communication(c, &end_ns, err))
        return err->code;
    if (!c->on_host)
        c->after_update_ns = end_ns;
    for (int i = 0; i < EVENTS_A_MINI_BATCH * c->mini_batches; i += EVENTS_A_MINI_BATCH) {
        times->forward += ddp_device_event_seconds(events[i], events[i + 1]);
        times->backward += ddp_device_event_seconds(events[i + 1], events[i + 2]);
    }
    times->update =
        ddp_device_event_seconds(events[c->event_count - 3], events[c->event_count - 2]);
    times->forward -= (double)c->in_forward_ns / 1e9;
    times->backward -= (double)c->in_backward_ns / 1e9;
    times->update -= (double)(c->after_update_ns - c->so_far_ns) / 1e9;
    times->exposed = (double)(end_ns - c->before_ns) / 1e9;
    times->step = ddp_device_event_seconds(events[0], events[c->event_count - 1]);
    return DDP_OK;
}

ddp_device_event *const *ddp_step_events(const ddp_step_clock *c, int *mini_batches)
{
    *mini_batches = c->mini_batches;
    return c->events;
}
