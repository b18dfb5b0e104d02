#include "timing/tracer.h"

#include "base/clock.h"
#include "comm/work.h"
#include "glue/train_position.h"
#include "timing/hook_chain.h"

#include <darknet.h>
#include <network.h>

/* Waits shorter than this are left out of the trace. */
static const int64_t least_wait_ns = 20000;

/* A moment: of the host, or in a GPU's work. */
struct mark {
    int64_t ns;
    ddp_device_event *event; /* NULL on the host */
};

/* A span whose times may still be events. */
struct pending {
    struct mark begin, end;
    const char *what;
    int layer, mini_batch;
};

struct ddp_tracer {
    ddp_hook_chain passing; /* to the trainer */
    ddp_trace *trace;
    ddp_group *group;
    ddp_trainer *trainer;
    network *net;
    ddp_device *device;
    int on_host;
    train_hooks hooks;
    struct mark zero;    /* the trace's start: on a GPU its event, too */
    struct mark begin;   /* beginning of what goes on */
    const char *what;    /* what goes on, of a layer; NULL: nothing */
    int layer;           /* layer that it is of */
    int mini_batch;      /* of the step, from 0 */
    int travelled;       /* 1: a step's buckets travelled, and their times are not read yet */
    int64_t step_ns;     /* when the step began */
    int64_t outside_ns;  /* when the last step ended; 0: not in this trace */
    struct pending *all; /* spans whose times, on a GPU, are known at the end of a step */
    size_t count, room;
};

/* ---- moments ---- */

static struct mark now(ddp_tracer *t)
{
    struct mark m = {.ns = ddp_clock_ns()};
    ddp_error err;

    if (!t->on_host && ddp_device_event_open(&m.event, t->device, &err) == DDP_OK)
        ddp_device_event_record(m.event);
    return m;
}

static int64_t time_of(const ddp_tracer *t, const ddp_device_event *event)
{
    return t->zero.ns + (int64_t)(1e9 * ddp_device_event_seconds(t->zero.event, event));
}

/* Return the time of a moment. Waits until a GPU has come to it; on a host it has passed. */
static int64_t resolve(const ddp_tracer *t, const struct mark *m)
{
    return m->event ? time_of(t, m->event) : m->ns;
}

static const char *kind_of(const ddp_tracer *t, int layer)
{
    return get_layer_string(t->net->layers[layer].type);
}

static void add_pending(ddp_tracer *t, const struct pending *p)
{
    ddp_trace_add(t->trace, DDP_LANE_COMPUTE, resolve(t, &p->begin), resolve(t, &p->end),
                  "%s %d %s, mini-batch %d", p->what, p->layer, kind_of(t, p->layer),
                  p->mini_batch);
}

/* Add all pending spans: a GPU's times are known when it has done its work. An event stands in two
 * of them at most, one after the other. */
static void resolve_all(ddp_tracer *t)
{
    for (size_t i = 0; i < t->count; i++)
        add_pending(t, &t->all[i]);
    for (size_t i = 0; i < t->count; i++) {
        ddp_device_event_close(t->all[i].begin.event);
        ddp_device_event_close(t->all[i].end.event);
    }
    t->count = 0;
}

/* End the span of what went on until now. */
static void close_span(ddp_tracer *t)
{
    struct pending span = {
        .begin = t->begin, .what = t->what, .layer = t->layer, .mini_batch = t->mini_batch};

    if (!t->what)
        return;
    t->what = NULL;
    ddp_device_range_pop();
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 1024;
        struct pending *grown = realloc(t->all, room * sizeof *grown);

        if (!grown) {
            ddp_device_event_close(t->begin.event);
            return;
        }
        t->all = grown;
        t->room = room;
    }
    span.end = now(t);
    t->all[t->count++] = span;
}

/* Begin a span. range_what: what it is for a profiler, to which it cannot be told later. */
static void open_span(ddp_tracer *t, const char *what, int layer, const char *range_what)
{
    char range[64];

    (void)snprintf(range, sizeof range, "%s %d %s", range_what, layer, kind_of(t, layer));
    ddp_device_range_push(range);
    t->what = what;
    t->layer = layer;
    t->begin = now(t);
}

static void add_wait(ddp_tracer *t, int64_t begin_ns, const char *what, int layer)
{
    int64_t end_ns = ddp_clock_ns();

    if (end_ns - begin_ns < least_wait_ns)
        return;
    if (layer < 0)
        ddp_trace_add(t->trace, DDP_LANE_WAITS, begin_ns, end_ns, "%s", what);
    else
        ddp_trace_add(t->trace, DDP_LANE_WAITS, begin_ns, end_ns, "%s %d", what, layer);
}

/* Add a step's buckets. All of its sums must have ended, on the host. */
static void add_buckets(ddp_tracer *t)
{
    const ddp_reducer *reducer = ddp_trainer_reducer(t->trainer);
    const ddp_bucket_plan *plan = ddp_reducer_plan(reducer);
    const int lanes = DDP_LANE_BUCKETS_END - DDP_LANE_BUCKETS;

    for (size_t i = 0; t->travelled && i < ddp_reducer_piece_count(reducer); i++) {
        size_t b;
        const ddp_work *sum = ddp_reducer_sum(reducer, i, &b);
        const ddp_bucket *bucket = &plan->buckets[b];

        if (!sum)
            continue;
        ddp_trace_add(t->trace, DDP_LANE_BUCKETS + (int)b % lanes, time_of(t, ddp_work_began(sum)),
                      time_of(t, ddp_work_ended(sum)), "bucket %zu: layers %d to %d, %zu bytes", b,
                      bucket->first_layer, bucket->last_layer,
                      ddp_reducer_bucket_floats(reducer, b) * sizeof(float));
    }
    t->travelled = 0;
}

/* ---- hooks: time passes, and the trainer's own does the rest ---- */

static void forward_begin(void *ctx, network *net)
{
    ddp_tracer *t = ctx;
    ddp_train_position before = ddp_train_position_of(net);
    int64_t start = ddp_clock_ns();

    t->mini_batch = before.begun;
    if (before.begun == 0) {
        if (t->outside_ns)
            add_wait(t, t->outside_ns, "between two steps: samples, saves", -1);
        t->step_ns = start;
    }
    ddp_hook_chain_hooks.forward_begin(t, net);
    add_wait(t, start, "the last step's sums", -1);
}

static void forward_layer(void *ctx, network *net, int layer)
{
    ddp_tracer *t = ctx;
    int64_t start;

    close_span(t);
    start = ddp_clock_ns();
    ddp_hook_chain_hooks.forward_layer(t, net, layer);
    if (!net->train)
        return;
    add_wait(t, start, "deferred update of layer", layer);
    open_span(t, "forward", layer, "forward");
}

static void backward_begin(void *ctx, network *net)
{
    ddp_tracer *t = ctx;
    int64_t start;

    close_span(t);
    start = ddp_clock_ns();
    ddp_hook_chain_hooks.backward_begin(t, net);
    add_wait(t, start, "deferred updates", -1);
    if (t->on_host)
        add_buckets(t); /* before they are launched again */
    open_span(t, "backward", net->n - 1, "backward");
}

/* Note a layer's gradients: called when its backward pass has ended, for some layers in the middle
 * of it, too. */
static void gradient_ready(void *ctx, int layer)
{
    ddp_tracer *t = ctx;
    int64_t start;

    t->layer = layer;
    close_span(t);
    start = ddp_clock_ns();
    ddp_hook_chain_hooks.gradient_ready(t, layer);
    add_wait(t, start, "messages, layer", layer);
    open_span(t, "backward", layer, "backward behind");
}

static void backward_end(void *ctx, network *net)
{
    ddp_tracer *t = ctx;
    int64_t start;

    t->what = NULL; /* it was opened for a layer that is not there */
    ddp_device_range_pop();
    ddp_device_event_close(t->begin.event);
    start = ddp_clock_ns();
    ddp_hook_chain_hooks.backward_end(t, net);
    add_wait(t, start, "launches at the end of backward", -1);
    t->travelled |=
        ddp_group_size(t->group) > 1 && ddp_reducer_syncs(ddp_trainer_reducer(t->trainer));
}

static int update_layer(void *ctx, int layer)
{
    ddp_tracer *t = ctx;
    int64_t start;
    int now_due;

    close_span(t);
    start = ddp_clock_ns();
    now_due = ddp_hook_chain_hooks.update_layer(t, layer);
    add_wait(t, start, "sums of layer", layer);
    if (now_due)
        open_span(t, "update", layer, "update");
    return now_due;
}

static float mean_loss(void *ctx, float loss)
{
    ddp_tracer *t = ctx;
    int64_t start;
    float mean;

    close_span(t);
    start = ddp_clock_ns();
    mean = ddp_hook_chain_hooks.mean_loss(t, loss);
    add_wait(t, start, "the loss of all ranks", -1);
    t->outside_ns = ddp_clock_ns();
    ddp_trace_add(t->trace, DDP_LANE_STEPS, t->step_ns, t->outside_ns, "step %zu",
                  ddp_train_position_of(t->net).step);
    if (!t->on_host)
        add_buckets(t);
    resolve_all(t);
    return mean;
}

/* Complete the spans of the last step. */
static void finish(ddp_tracer *t)
{
    ddp_trainer_flush(t->trainer);
    add_buckets(t);
    resolve_all(t);
    t->net->hooks = t->passing.inner;
    t->net = NULL;
}

/* Take part in freeing the network while a step is traced. */
static void release(void *ctx, network *net)
{
    ddp_tracer *t = ctx;

    finish(t);
    ddp_hook_chain_hooks.release(t, net);
}

/* ---- opening ---- */

ddp_status ddp_tracer_begin(ddp_tracer **out, ddp_trace *trace, ddp_group *group, ddp_trainer *t,
                            network *net, ddp_error *err)
{
    ddp_tracer *tracer = calloc(1, sizeof *tracer);
    ddp_device *device = ddp_trainer_table(t)->device;

    *out = NULL;
    if (!tracer)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a tracer");
    *tracer = (ddp_tracer){.passing.inner = net->hooks,
                           .trace = trace,
                           .group = group,
                           .trainer = t,
                           .net = net,
                           .device = device,
                           .on_host = ddp_device_is_host(device)};
    if (ddp_device_event_open(&tracer->zero.event, device, err)) {
        free(tracer);
        return err->code;
    }
    ddp_device_synchronize(device);
    ddp_device_event_record(tracer->zero.event);
    tracer->zero.ns = ddp_clock_ns();
    tracer->outside_ns = tracer->zero.ns;
    tracer->hooks = ddp_hook_chain_hooks;
    tracer->hooks.ctx = tracer;
    if (!tracer->passing.inner->optimize)
        tracer->hooks.optimize = NULL;
    tracer->hooks.forward_begin = forward_begin;
    tracer->hooks.forward_layer = forward_layer;
    tracer->hooks.backward_begin = backward_begin;
    tracer->hooks.gradient_ready = gradient_ready;
    tracer->hooks.backward_end = backward_end;
    tracer->hooks.update_layer = update_layer;
    tracer->hooks.mean_loss = mean_loss;
    tracer->hooks.release = release;
    net->hooks = &tracer->hooks;
    *out = tracer;
    return DDP_OK;
}

void ddp_tracer_end(ddp_tracer *t)
{
    if (!t)
        return;
    if (t->net)
        finish(t);
    ddp_device_event_close(t->zero.event);
    free(t->all);
    free(t);
}
