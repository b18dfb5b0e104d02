#include "timing/profiler.h"

#include "glue/train_position.h"
#include "timing/hook_chain.h"

#include <darknet.h>
#include <stdlib.h>

/* Moments of a layer's work in one mini-batch; MOMENTS: how many there are. */
enum { FORWARD, GRADIENTS, END, UPDATE, MOMENTS };

struct profiler {
    ddp_hook_chain passing; /* to no inner hooks */
    network *net;
    ddp_device *device;
    ddp_watch *watch;
    ddp_device_event **of_layers;          /* MOMENTS a layer */
    ddp_device_event *forward_ends, *ends; /* the mini-batch's ends of forward, and of all */
    char *ready;                           /* 1 for each layer whose gradients were final before */
    int updates;                           /* 1: this mini-batch ends with an update */

    double *seconds; /* MOMENTS for each layer, each with `room` numbers */
    size_t room, mini_batches, update_count;
};

static ddp_device_event *moment(const struct profiler *p, int layer, int which)
{
    return p->of_layers[layer * MOMENTS + which];
}

/* ---- hooks ---- */

static void forward_begin(void *ctx, network *net)
{
    struct profiler *p = ctx;

    for (int i = 0; i < net->n; i++)
        p->ready[i] = 0;
    p->updates = 0;
}

static void forward_layer(void *ctx, network *net, int layer)
{
    const struct profiler *p = ctx;

    (void)net;
    ddp_watch_moved(p->watch);
    ddp_device_event_record(moment(p, layer, FORWARD));
}

static void backward_begin(void *ctx, network *net)
{
    struct profiler *p = ctx;

    (void)net;
    ddp_device_event_record(p->forward_ends);
}

/* Note a layer's gradients: the hook comes once, or twice with the input delta in between. */
static void gradient_ready(void *ctx, int layer)
{
    struct profiler *p = ctx;

    ddp_watch_moved(p->watch);
    if (!p->ready[layer])
        ddp_device_event_record(moment(p, layer, GRADIENTS));
    p->ready[layer] = 1;
    ddp_device_event_record(moment(p, layer, END));
}

static void backward_end(void *ctx, network *net)
{
    struct profiler *p = ctx;

    (void)net;
    ddp_device_event_record(p->ends);
}

static int update_layer(void *ctx, int layer)
{
    struct profiler *p = ctx;

    ddp_device_event_record(moment(p, layer, UPDATE));
    p->updates = 1;
    return 1;
}

/* ---- what they noted ---- */

static void keep(struct profiler *p, int layer, int which, size_t n, double seconds)
{
    p->seconds[((size_t)layer * MOMENTS + (size_t)which) * p->room + n] = seconds;
}

/* Keep the times of a mini-batch. A layer that the backward pass did not reach (stopbackward) took
 * no time. */
static void keep_mini_batch(struct profiler *p)
{
    const ddp_device_event *before = p->forward_ends;

    for (int i = p->net->n - 1; i >= 0; i--) {
        const ddp_device_event *ends =
            i + 1 < p->net->n ? moment(p, i + 1, FORWARD) : p->forward_ends;

        keep(p, i, FORWARD, p->mini_batches, ddp_device_event_seconds(moment(p, i, FORWARD), ends));
        if (!p->ready[i])
            continue;
        keep(p, i, GRADIENTS, p->mini_batches,
             ddp_device_event_seconds(before, moment(p, i, GRADIENTS)));
        keep(p, i, END, p->mini_batches,
             ddp_device_event_seconds(moment(p, i, GRADIENTS), moment(p, i, END)));
        before = moment(p, i, END);
    }
    p->mini_batches++;
}

/* Keep the times of an update, which goes from the last layer to the first. */
static void keep_update(struct profiler *p)
{
    for (int i = 0; i < p->net->n; i++)
        keep(
            p, i, UPDATE, p->update_count,
            ddp_device_event_seconds(moment(p, i, UPDATE), i ? moment(p, i - 1, UPDATE) : p->ends));
    p->update_count++;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(struct profiler *p, int layer, int which, size_t count)
{
    double *seconds = p->seconds + ((size_t)layer * MOMENTS + (size_t)which) * p->room;

    qsort(seconds, count, sizeof *seconds, by_value);
    return seconds[count / 2] > 0 ? seconds[count / 2] : 0;
}

static void conclude(struct profiler *p, ddp_layer_profile *out)
{
    out->on_gpu = !ddp_device_is_host(p->device);
    out->images = p->net->batch;
    for (int i = 0; i < out->layers; i++)
        out->times[i] = (ddp_layer_times){.forward = median(p, i, FORWARD, p->mini_batches),
                                          .gradients = median(p, i, GRADIENTS, p->mini_batches),
                                          .rest = median(p, i, END, p->mini_batches),
                                          .update = median(p, i, UPDATE, p->update_count)};
}

/* ---- running ---- */

static void run(struct profiler *p, size_t mini_batches)
{
    const train_hooks *before = p->net->hooks;
    const joint_statistics *joint = p->net->statistics;
    train_hooks hooks = ddp_hook_chain_hooks;

    hooks.ctx = p;
    hooks.optimize = NULL;
    hooks.forward_begin = forward_begin;
    hooks.forward_layer = forward_layer;
    hooks.backward_begin = backward_begin;
    hooks.gradient_ready = gradient_ready;
    hooks.backward_end = backward_end;
    hooks.update_layer = update_layer;
    p->net->hooks = &hooks;
    p->net->statistics = NULL;
    for (size_t m = 0; m < mini_batches; m++) {
        (void)train_network_datum(p->net);
        if (p->updates)
            ddp_device_event_record(p->ends);
        ddp_device_synchronize(p->device);
        keep_mini_batch(p);
        if (p->updates)
            keep_update(p);
    }
    p->net->hooks = before;
    p->net->statistics = joint;
}

static void release(struct profiler *p)
{
    for (int i = 0; p->of_layers && i < p->net->n * MOMENTS; i++)
        ddp_device_event_close(p->of_layers[i]);
    ddp_device_event_close(p->forward_ends);
    ddp_device_event_close(p->ends);
    free(p->of_layers);
    free(p->ready);
    free(p->seconds);
}

static ddp_status open_profiler(struct profiler *p, size_t mini_batches, ddp_error *err)
{
    size_t moments = (size_t)p->net->n * MOMENTS;

    p->room = mini_batches;
    p->of_layers = calloc(moments, sizeof(ddp_device_event *));
    p->ready = calloc((size_t)p->net->n, 1);
    p->seconds = calloc(moments * mini_batches, sizeof *p->seconds);
    if (!p->of_layers || !p->ready || !p->seconds)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the times of %d layers", p->net->n);
    for (size_t i = 0; i < moments; i++)
        if (ddp_device_event_open(&p->of_layers[i], p->device, err))
            return err->code;
    if (ddp_device_event_open(&p->forward_ends, p->device, err))
        return err->code;
    return ddp_device_event_open(&p->ends, p->device, err);
}

ddp_status ddp_layer_profile_measure(ddp_layer_profile *p, network *net, ddp_device *device,
                                     ddp_watch *watch, int steps, ddp_error *err)
{
    struct profiler m = {.net = net, .device = device, .watch = watch};
    size_t mini_batches = (size_t)steps * (size_t)ddp_train_position_mini_batches(net);
    ddp_status st = ddp_layer_profile_init(p, net->n, err);

    if (!st)
        st = open_profiler(&m, mini_batches, err);
    if (!st) {
        run(&m, mini_batches);
        conclude(&m, p);
    }
    release(&m);
    return st;
}
