#include "compressed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const ddp_reducer_config compressed_configs[COMPRESSED_CONFIGS] = {
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1, .first_bucket_bytes = 1, .overlap = 0, .find_unused = 1},
    {.bucket_bytes = 5000, .first_bucket_bytes = 64, .overlap = 1, .find_unused = 1},
    {.bucket_bytes = 1 << 30, .first_bucket_bytes = 1 << 30, .overlap = 1, .find_unused = 1},
};

size_t compressed_count(const struct compressed_net *net, size_t p)
{
    const struct compressed_shape *s = &net->shapes[p];

    return (s->rows ? s->rows : 1) * s->columns;
}

int compressed_runs(const struct compressed_net *net, int layer, int step)
{
    return layer != net->unused || step % 2 == 1;
}

size_t compressed_result(int kind, size_t p)
{
    return ((size_t)kind * COMPRESSED_PARAMS + p) * COMPRESSED_LARGEST;
}

float compressed_gradient(const struct compressed_net *net, int rank, int step, size_t p, size_t i)
{
    uint64_t h = (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15U + (uint64_t)step * 0xC2B2AE3D27D4EB4FU
                 + (uint64_t)p * 0x165667B19E3779F9U + i * 0xD6E8FEB86659FD93U;

    h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9U;
    h ^= h >> 32;
    if (net->whole)
        return (float)(h % 101) - 50;
    return (float)((double)(int)(h % 2001) / 1000 - 1);
}

/* ---- a rank's ---- */

static int open_param(struct compressed *c, size_t p, ddp_device *d, ddp_error *err)
{
    const struct compressed_shape *s = &c->net->shapes[p];
    size_t count = compressed_count(c->net, p);

    c->params[p] = (ddp_param){.layer = s->layer,
                               .kind = "convolutional",
                               .part = "weights",
                               .count = count,
                               .rows = s->rows,
                               .value = &c->value,
                               .gradient_slot = &c->gradients[p]};
    if (ddp_device_alloc(d, &c->memory[p], count, err)
        || ddp_device_alloc(d, &c->source[p], count, err))
        return 0;
    c->gradients[p] = c->memory[p];
    return 1;
}

static ddp_status open_algorithm(struct compressed *c, const struct rank *me, ddp_error *err)
{
    ddp_algorithm_of of = {.options = &c->net->options,
                           .group = me->group,
                           .device = c->table.device,
                           .table = &c->table};

    if (ddp_state_open(&c->state, c->table.param_count, err))
        return err->code;
    of.state = c->state;
    return ddp_algorithm_compressor.open(&c->self, &of, err);
}

int compressed_open(struct compressed *c, const struct compressed_net *net, ddp_device *d,
                    struct rank *me)
{
    ddp_error err;
    int ok = 1;

    *c = (struct compressed){.net = net,
                             .table = {.layer_count = net->layers,
                                       .param_count = net->params,
                                       .device = d,
                                       .params = c->params}};
    for (size_t p = 0; p < net->params && ok; p++)
        ok = open_param(c, p, d, &err);
    if (ok && !open_algorithm(c, me, &err))
        return 1;
    rank_wrong(me, "%s", err.text);
    compressed_close(c);
    return 0;
}

static ddp_status open_reducer(struct compressed *c, const ddp_reducer_config *config,
                               struct rank *me, ddp_error *err)
{
    ddp_reducer_config with = *config;
    ddp_attached attached = {.table = &c->table};

    with.codec = ddp_algorithm_compressor.codec;
    with.codec_self = c->self;
    if (ddp_state_use_device(c->state, c->table.device, err)
        || ddp_reducer_open(&c->reducer, me->group, &c->table, &with, err))
        return err->code;
    attached.reducer = c->reducer;
    return ddp_algorithm_compressor.attach(c->self, &attached, err);
}

int compressed_open_reducer(struct compressed *c, const struct compressed_net *net, ddp_device *d,
                            const ddp_reducer_config *config, struct rank *me)
{
    ddp_error err;

    if (!compressed_open(c, net, d, me))
        return 0;
    if (!open_reducer(c, config, me, &err))
        return 1;
    rank_wrong(me, "%s", err.text);
    compressed_close(c);
    return 0;
}

void compressed_close(struct compressed *c)
{
    ddp_reducer_close(c->reducer);
    if (c->state)
        ddp_state_leave_device(c->state);
    if (c->self)
        ddp_algorithm_compressor.close(c->self);
    ddp_state_close(c->state);
    for (size_t p = 0; p < c->net->params; p++) {
        ddp_device_free(c->table.device, c->memory[p]);
        ddp_device_free(c->table.device, c->source[p]);
    }
}

/* Before backward, which then only queues: a copy would wait for a GPU. */
static void prepare(struct compressed *c, int rank, int step)
{
    float host[COMPRESSED_LARGEST];

    for (size_t p = 0; p < c->net->params; p++) {
        size_t count = compressed_count(c->net, p);

        for (size_t i = 0; i < count; i++)
            host[i] = compressed_gradient(c->net, rank, step, p, i);
        ddp_device_push(c->table.device, c->source[p], host, count);
    }
}

static void add_gradients(struct compressed *c, int layer)
{
    for (size_t p = 0; p < c->net->params; p++)
        if (c->net->shapes[p].layer == layer)
            ddp_device_add(c->table.device, c->gradients[p], c->source[p],
                           compressed_count(c->net, p));
}

void compressed_backward(struct compressed *c, struct rank *me, int step, int drop)
{
    char dropped[COMPRESSED_PARAMS] = {0};
    ddp_error err;

    prepare(c, me->rank, step);
    ddp_reducer_backward_begin(c->reducer, 1);
    dropped[c->net->unused] = (char)!compressed_runs(c->net, c->net->unused, step);
    if (drop)
        ddp_reducer_drop_layers(c->reducer, dropped);
    for (int layer = c->net->layers - 1; layer >= 0; layer--) {
        if (!compressed_runs(c->net, layer, step))
            continue;
        add_gradients(c, layer);
        rank_expect_ok(me, ddp_reducer_layer_ready(c->reducer, layer, &err), &err);
        if ((me->rank + layer + step) % 3 == 0)
            rank_expect_ok(me, ddp_reducer_progress(c->reducer, &err), &err);
    }
    rank_expect_ok(me, ddp_reducer_backward_end(c->reducer, &err), &err);
    rank_expect_ok(me, ddp_reducer_launch_deferred(c->reducer, &err), &err);
}

void compressed_wait(struct compressed *c, struct rank *me, int step)
{
    ddp_error err;

    for (int layer = c->net->layers - 1; layer >= 0; layer--) {
        int used = -1, want = compressed_runs(c->net, layer, step);

        rank_expect_ok(me, ddp_reducer_layer_wait(c->reducer, layer, &used, &err), &err);
        if (used != want)
            rank_wrong(me, "step %d, layer %d: used is %d, not %d", step, layer, used, want);
    }
}

void compressed_clear(struct compressed *c)
{
    for (size_t p = 0; p < c->net->params; p++)
        ddp_device_zero(c->table.device, c->gradients[p], compressed_count(c->net, p));
}

int compressed_array(const struct compressed *c, ddp_state_kind kind)
{
    for (size_t k = 0; k < ddp_state_set_count(c->state); k++)
        if (ddp_state_set_spec(c->state, k)->kind == kind)
            return (int)k;
    return -1;
}

static float *kept(const struct compressed *c, ddp_state_kind kind, size_t p)
{
    int array = compressed_array(c, kind);

    return array < 0 ? NULL : ddp_state_host(c->state, (size_t)array, p);
}

struct compressed_memory compressed_memory(const struct compressed *c, size_t p)
{
    return (struct compressed_memory){.error = kept(c, DDP_STATE_OF_RANK, p),
                                      .q = kept(c, DDP_STATE_SAME, p)};
}

void compressed_keep(struct compressed *c, float *results)
{
    int same = compressed_array(c, DDP_STATE_SAME);

    ddp_state_pull(c->state);
    for (size_t p = 0; p < c->net->params; p++) {
        size_t count = compressed_count(c->net, p);
        struct compressed_memory memory = compressed_memory(c, p);

        ddp_device_pull(c->table.device, results + compressed_result(0, p), c->gradients[p], count);
        if (memory.error)
            memcpy(results + compressed_result(1, p), memory.error, count * sizeof(float));
        if (memory.q)
            memcpy(results + compressed_result(2, p), memory.q,
                   ddp_state_floats(c->state, (size_t)same, p) * sizeof(float));
    }
}
