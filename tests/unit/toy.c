#include "toy.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int layer;
    const char *part;
    size_t count;
} shape[TOY_PARAMS] = {
    {1, "weights", 300}, {1, "biases", 7},   {3, "weights", 1000}, {3, "biases", 16},
    {3, "scales", 15},   {4, "weights", 33}, {4, "biases", 1},     {6, "weights", 8300},
    {8, "weights", 64},  {8, "biases", 8},
};

static float *new_floats(size_t count)
{
    float *x = calloc(count, sizeof *x);

    if (!x)
        abort();
    return x;
}

void toy_open(struct toy *t, int first_trained)
{
    for (size_t i = 0; i < TOY_PARAMS; i++) {
        t->values[i] = new_floats(shape[i].count);
        t->memory[i] = new_floats(shape[i].count);
        t->gradients[i] = t->memory[i];
        t->params[i] = (ddp_param){.layer = shape[i].layer,
                                   .kind = "convolutional",
                                   .part = shape[i].part,
                                   .count = shape[i].count,
                                   .value = t->values[i],
                                   .gradient_slot = &t->gradients[i]};
    }
    t->table = (ddp_param_table){.layer_count = TOY_LAYERS,
                                 .param_count = TOY_PARAMS,
                                 .device = ddp_device_host(),
                                 .params = t->params,
                                 .first_trained = first_trained};
}

void toy_close(struct toy *t)
{
    for (size_t i = 0; i < TOY_PARAMS; i++) {
        free(t->values[i]);
        free(t->memory[i]);
    }
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
    return h ^ (h >> 31);
}

/* Return what a rank adds to a parameter in a pass: one number for each element. */
static uint64_t stream_of(const struct toy_step *s, int rank, int pass, size_t param)
{
    return ((uint64_t)s->seed << 32) + ((uint64_t)rank << 24) + ((uint64_t)pass << 16)
           + ((uint64_t)param << 48);
}

static float element(uint64_t stream, size_t i, int any_float)
{
    uint64_t h = mix((stream + i) * 0x9E3779B97F4A7C15U + 1);

    if (!any_float)
        return (float)(h % 7) - 3.0F;
    return ((float)(h & 0xFFFFFF) - 8388608.0F) / (float)(1U << (h >> 24 & 15));
}

float toy_gradient(const struct toy_step *s, int rank, int pass, size_t param, size_t i)
{
    return element(stream_of(s, rank, pass, param), i, s->any_float);
}

int toy_has_params(int layer)
{
    for (size_t p = 0; p < TOY_PARAMS; p++)
        if (shape[p].layer == layer)
            return 1;
    return 0;
}

static int runs(const struct toy_step *s, int rank, int pass, int layer)
{
    return !s->runs || s->runs(s, rank, pass, layer);
}

static void swap(int *a, int *b)
{
    int old = *a;

    *a = *b;
    *b = old;
}

/* The layers in an order of this rank's own. */
static void shuffle(int *order, unsigned *seed)
{
    for (int i = 0; i < TOY_LAYERS; i++) {
        int j = rand_r(seed) % (i + 1);

        order[i] = i;
        swap(&order[i], &order[j]);
    }
}

static void run_layer(struct toy *t, const struct toy_step *s, int rank, int pass, int layer)
{
    int any_float = s->any_float;

    for (size_t p = 0; p < TOY_PARAMS; p++) {
        uint64_t stream = stream_of(s, rank, pass, p);
        float *gradient = t->gradients[p];

        for (size_t i = 0; shape[p].layer == layer && i < shape[p].count; i++)
            gradient[i] += element(stream, i, any_float);
    }
}

static void tell_reducer(ddp_reducer *r, const struct toy_step *s, int pass)
{
    char dropped[TOY_LAYERS];

    for (int layer = 0; layer < TOY_LAYERS; layer++)
        dropped[layer] = (char)!runs(s, 0, pass, layer);
    ddp_reducer_drop_layers(r, dropped);
}

static void one_pass(struct toy *t, ddp_reducer *r, const struct toy_step *s, int pass,
                     struct rank *me)
{
    unsigned seed = s->seed * 64U + (unsigned)(me->rank * 8 + pass);
    int order[TOY_LAYERS];
    ddp_error err;

    shuffle(order, &seed);
    ddp_reducer_backward_begin(r, pass == s->passes - 1);
    if (s->tells)
        tell_reducer(r, s, pass);
    for (int i = 0; i < TOY_LAYERS; i++) {
        if (order[i] < t->table.first_trained || !runs(s, me->rank, pass, order[i]))
            continue;
        run_layer(t, s, me->rank, pass, order[i]);
        rank_expect_ok(me, ddp_reducer_layer_ready(r, order[i], &err), &err);
        for (int n = rand_r(&seed) % 3; n > 0; n--)
            rank_expect_ok(me, ddp_reducer_progress(r, &err), &err);
        if (rand_r(&seed) % 4 == 0)
            (void)sched_yield();
    }
    rank_expect_ok(me, ddp_reducer_backward_end(r, &err), &err);
    if (pass == s->passes - 1)
        rank_expect_ok(me, ddp_reducer_launch_deferred(r, &err), &err);
}

void toy_backward(struct toy *t, ddp_reducer *r, const struct toy_step *s, struct rank *me)
{
    for (int pass = 0; pass < s->passes; pass++)
        one_pass(t, r, s, pass, me);
}

static int is_used(const struct toy *t, const struct toy_step *s, int size, int layer)
{
    int used = !toy_has_params(layer);

    for (int rank = 0; rank < size; rank++)
        for (int pass = 0; pass < s->passes; pass++)
            used |= layer >= t->table.first_trained && runs(s, rank, pass, layer);
    return used;
}

/* The streams that were added to a parameter, on all ranks. Returns how many. */
static int streams_of(const struct toy_step *s, int size, size_t p, uint64_t *streams)
{
    int n = 0;

    for (int rank = 0; rank < size; rank++)
        for (int pass = 0; pass < s->passes; pass++)
            if (runs(s, rank, pass, shape[p].layer))
                streams[n++] = stream_of(s, rank, pass, p);
    return n;
}

static void compare(const struct toy *t, const struct toy_step *s, size_t p, struct rank *me)
{
    uint64_t streams[RANKS_MAX * TOY_PASSES];
    int n = streams_of(s, me->size, p, streams);

    for (size_t i = 0; i < shape[p].count; i++) {
        float want = 0;

        for (int k = 0; k < n; k++)
            want += element(streams[k], i, 0);
        if (t->gradients[p][i] != want) {
            rank_wrong(me, "seed %u, layer %d %s [%zu]: the sum is %g, not %g", s->seed,
                       shape[p].layer, shape[p].part, i, (double)t->gradients[p][i], (double)want);
            return;
        }
    }
}

void toy_update(struct toy *t, ddp_reducer *r, const struct toy_step *s, struct rank *me)
{
    ddp_error err;

    for (int layer = 0; layer < TOY_LAYERS; layer++) {
        int used = -1, want = is_used(t, s, me->size, layer);

        rank_expect_ok(me, ddp_reducer_layer_wait(r, layer, &used, &err), &err);
        if (used != want)
            rank_wrong(me, "seed %u, layer %d: used is %d, not %d", s->seed, layer, used, want);
        for (size_t p = 0; p < TOY_PARAMS; p++) {
            if (shape[p].layer != layer || layer < t->table.first_trained)
                continue;
            if (!s->any_float)
                compare(t, s, p, me);
            if (used)
                memset(t->gradients[p], 0, shape[p].count * sizeof(float));
        }
    }
}
