#include "state/slow_momentum.h"

#include "glue/table.h"

#include <stdlib.h>

struct ddp_slow_momentum {
    ddp_device *device;
    size_t count;    /* of arrays */
    size_t elements; /* of all together */
    float **arrays, *memory;
    float **there, *device_memory; /* on the host: the same */
};

static ddp_status allocate(ddp_slow_momentum *s, const ddp_table *table, ddp_error *err)
{
    size_t at = 0;

    s->count = table->param_count;
    for (size_t i = 0; i < s->count; i++)
        s->elements += table->params[i].count;
    s->arrays = calloc(s->count + 1, sizeof *s->arrays);
    s->there = calloc(s->count + 1, sizeof *s->there);
    s->memory = calloc(s->elements + 1, sizeof *s->memory);
    if (!s->arrays || !s->there || !s->memory)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for slow momentum of %zu parameters",
                        s->elements);
    s->device_memory = s->memory;
    if (!ddp_device_is_host(s->device)
        && ddp_device_alloc(s->device, &s->device_memory, s->elements, err)) {
        s->device_memory = NULL;
        return ddp_wrap(err, "slow momentum");
    }
    for (size_t i = 0; i < s->count; i++) {
        s->arrays[i] = s->memory + at;
        s->there[i] = s->device_memory + at;
        at += table->params[i].count;
    }
    return DDP_OK;
}

ddp_status ddp_slow_momentum_open(ddp_slow_momentum **out, network *net, ddp_device *device,
                                  ddp_error *err)
{
    ddp_slow_momentum *s = calloc(1, sizeof *s);
    ddp_table table;
    ddp_status st;

    *out = NULL;
    if (!s)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for slow momentum");
    s->device = device;
    st = ddp_table_init(&table, net, ddp_device_host(), err);
    if (!st) {
        st = allocate(s, &table, err);
        ddp_table_release(&table);
    }
    if (st) {
        ddp_slow_momentum_close(s);
        return st;
    }
    *out = s;
    return DDP_OK;
}

void ddp_slow_momentum_close(ddp_slow_momentum *s)
{
    if (!s)
        return;
    if (s->device_memory != s->memory)
        ddp_device_free(s->device, s->device_memory);
    free(s->arrays);
    free(s->there);
    free(s->memory);
    free(s);
}

float *const *ddp_slow_momentum_arrays(const ddp_slow_momentum *s)
{
    return s->arrays;
}

float *const *ddp_slow_momentum_there(const ddp_slow_momentum *s)
{
    return s->there;
}

void ddp_slow_momentum_pull(const ddp_slow_momentum *s)
{
    if (s->device_memory != s->memory)
        ddp_device_pull(s->device, s->memory, s->device_memory, s->elements);
}

void ddp_slow_momentum_push(const ddp_slow_momentum *s)
{
    if (s->device_memory != s->memory)
        ddp_device_push(s->device, s->device_memory, s->memory, s->elements);
}

ddp_status ddp_slow_momentum_broadcast(const ddp_slow_momentum *s, ddp_group *group, ddp_error *err)
{
    if (ddp_broadcast(group, s->memory, s->elements * sizeof *s->memory, 0, err))
        return ddp_wrap(err, "slow momentum");
    return DDP_OK;
}
