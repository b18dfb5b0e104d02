#include "glue/layer_clock.h"

#include "base/clock.h"
#include "glue/passing_hooks.h"

#include <darknet.h>

#include <stdlib.h>
#include <string.h>

/* What is timed of a layer. */
enum { FORWARD, GRADIENTS, REST, UPDATE, PARTS };

struct ddp_layer_clock {
    ddp_passing passing; /* first: to the trainer */
    network *net;
    train_hooks hooks;
    int64_t resumed_ns; /* Darknet computes since then, */
    int64_t spent_ns;   /* and has before, since the last part of a layer ended */
    int layer;          /* whose forward pass or update that is; -1: none's */
    char *ready;        /* per layer: its gradients were announced in this pass */
    int64_t *now_ns;    /* PARTS a layer, of this mini-batch, and of this update */
    double *seconds;    /* PARTS a layer, each with `room` of them */
    size_t room, mini_batches, updates;
    int updating;
};

/* Darknet has called: what it computed since the last call counts, what is done here does not. */
static void pause_clock(ddp_layer_clock *c)
{
    c->spent_ns += ddp_clock_ns() - c->resumed_ns;
}

static void resume_clock(ddp_layer_clock *c)
{
    c->resumed_ns = ddp_clock_ns();
}

static void count(ddp_layer_clock *c, int layer, int part)
{
    if (layer >= 0)
        c->now_ns[layer * PARTS + part] += c->spent_ns;
    c->spent_ns = 0;
}

static void keep(ddp_layer_clock *c, int first_part, int end_part, size_t n)
{
    for (int i = 0; i < c->net->n; i++)
        for (int part = first_part; part < end_part; part++) {
            size_t at = (size_t)i * PARTS + (size_t)part;

            if (n < c->room)
                c->seconds[at * c->room + n] = (double)c->now_ns[at] / 1e9;
            c->now_ns[at] = 0;
        }
}

/* Whatever comes behind the last layer's update. */
static void end_update(ddp_layer_clock *c)
{
    if (!c->updating)
        return;
    count(c, c->layer, UPDATE);
    keep(c, UPDATE, PARTS, c->updates++);
    c->updating = 0;
    c->layer = -1;
}

/* ---- hooks ---- */

static void forward_begin(void *ctx, network *net)
{
    ddp_layer_clock *c = ctx;

    pause_clock(c);
    end_update(c);
    c->layer = -1;
    memset(c->ready, 0, (size_t)net->n);
    ddp_passing_hooks.forward_begin(ctx, net);
    resume_clock(c);
}

static void forward_layer(void *ctx, network *net, int layer)
{
    ddp_layer_clock *c = ctx;

    pause_clock(c);
    if (net->train)
        count(c, c->layer, FORWARD);
    c->layer = layer;
    ddp_passing_hooks.forward_layer(ctx, net, layer);
    resume_clock(c);
}

static void backward_begin(void *ctx, network *net)
{
    ddp_layer_clock *c = ctx;

    pause_clock(c);
    count(c, c->layer, FORWARD);
    ddp_passing_hooks.backward_begin(ctx, net);
    resume_clock(c);
}

/* Comes once, or twice, with the input delta in between. */
static void gradient_ready(void *ctx, int layer)
{
    ddp_layer_clock *c = ctx;

    pause_clock(c);
    count(c, layer, c->ready[layer] ? REST : GRADIENTS);
    c->ready[layer] = 1;
    ddp_passing_hooks.gradient_ready(ctx, layer);
    resume_clock(c);
}

static void progress(void *ctx)
{
    pause_clock(ctx);
    ddp_passing_hooks.progress(ctx);
    resume_clock(ctx);
}

static void backward_end(void *ctx, network *net)
{
    ddp_layer_clock *c = ctx;

    pause_clock(c);
    count(c, -1, REST);
    keep(c, FORWARD, UPDATE, c->mini_batches++);
    c->layer = -1;
    ddp_passing_hooks.backward_end(ctx, net);
    resume_clock(c);
}

static int update_layer(void *ctx, int layer)
{
    ddp_layer_clock *c = ctx;
    int used;

    pause_clock(c);
    count(c, c->updating ? c->layer : -1, UPDATE);
    c->updating = 1;
    used = ddp_passing_hooks.update_layer(ctx, layer);
    c->layer = used ? layer : -1;
    resume_clock(c);
    return used;
}

static void settle(void *ctx, network *net)
{
    pause_clock(ctx);
    end_update(ctx);
    ddp_passing_hooks.settle(ctx, net);
    resume_clock(ctx);
}

static float mean_loss(void *ctx, float loss)
{
    float mean;

    pause_clock(ctx);
    end_update(ctx);
    mean = ddp_passing_hooks.mean_loss(ctx, loss);
    resume_clock(ctx);
    return mean;
}

/* ---- opening and reading ---- */

ddp_status ddp_layer_clock_open(ddp_layer_clock **out, network *net, size_t mini_batches,
                                ddp_error *err)
{
    ddp_layer_clock *c = calloc(1, sizeof *c);
    size_t parts = (size_t)net->n * PARTS;

    *out = NULL;
    if (c) {
        *c = (ddp_layer_clock){.passing = {net->hooks},
                               .net = net,
                               .hooks = ddp_passing_hooks,
                               .layer = -1,
                               .room = mini_batches,
                               .ready = calloc((size_t)net->n, 1),
                               .now_ns = calloc(parts, sizeof *c->now_ns),
                               .seconds = calloc(parts * mini_batches, sizeof *c->seconds)};
    }
    if (!c || !c->ready || !c->now_ns || !c->seconds) {
        ddp_layer_clock_close(c);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the times of %d layers", net->n);
    }
    c->hooks.ctx = c;
    c->hooks.forward_begin = forward_begin;
    c->hooks.forward_layer = forward_layer;
    c->hooks.backward_begin = backward_begin;
    c->hooks.gradient_ready = gradient_ready;
    c->hooks.progress = progress;
    c->hooks.backward_end = backward_end;
    c->hooks.update_layer = update_layer;
    c->hooks.settle = settle;
    c->hooks.mean_loss = mean_loss;
    c->hooks.optimize = net->hooks->optimize ? ddp_passing_hooks.optimize : NULL;
    net->hooks = &c->hooks;
    resume_clock(c);
    *out = c;
    return DDP_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(ddp_layer_clock *c, int layer, int part, size_t n)
{
    double *seconds = c->seconds + ((size_t)layer * PARTS + (size_t)part) * c->room;

    if (n > c->room)
        n = c->room;
    qsort(seconds, n, sizeof *seconds, by_value);
    return n ? seconds[n / 2] : 0;
}

ddp_status ddp_layer_clock_read(ddp_layer_clock *c, ddp_profile *p, ddp_error *err)
{
    ddp_status st = ddp_profile_init(p, c->net->n, err);

    for (int i = 0; i < c->net->n && !st; i++)
        p->times[i] = (ddp_layer_times){.forward = median(c, i, FORWARD, c->mini_batches),
                                        .gradients = median(c, i, GRADIENTS, c->mini_batches),
                                        .rest = median(c, i, REST, c->mini_batches),
                                        .update = median(c, i, UPDATE, c->updates)};
    p->images = c->net->batch;
    return st;
}

void ddp_layer_clock_close(ddp_layer_clock *c)
{
    if (!c)
        return;
    if (c->net->hooks == &c->hooks)
        c->net->hooks = c->passing.inner;
    free(c->ready);
    free(c->now_ns);
    free(c->seconds);
    free(c);
}
