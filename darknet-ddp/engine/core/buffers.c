#include "core/buffers.h"

#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/work.h"

#include <stdlib.h>

struct ddp_buffers {
    ddp_group *group;
    const ddp_param_table *table;
    float *memory;
    size_t count;
    float **framework_memory; /* per buffer */
    ddp_work *sum;
    int started;
};

/* The group talks through host memory. */
static ddp_status broadcast(ddp_group *group, ddp_device *device, float *x, size_t count, int root,
                            ddp_error *err)
{
    size_t bytes = count * sizeof *x;
    float *host;
    ddp_status st;

    if (ddp_device_is_host(device) || ddp_group_size(group) == 1)
        return ddp_broadcast(group, x, bytes, root, err);
    host = malloc(bytes);
    if (!host)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu bytes", bytes);
    if (ddp_group_rank(group) == root)
        ddp_device_pull(device, host, x, count);
    st = ddp_broadcast(group, host, bytes, root, err);
    if (!st && ddp_group_rank(group) != root)
        ddp_device_push(device, x, host, count);
    free(host);
    return st;
}

ddp_status ddp_params_broadcast(ddp_group *group, const ddp_param_table *table, int root,
                                ddp_error *err)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *param = &table->params[i];

        if (broadcast(group, table->device, param->value, param->count, root, err))
            return ddp_wrap(err, "layer %d (%s) %s", param->layer, param->kind, param->part);
    }
    return DDP_OK;
}

ddp_status ddp_optimizer_broadcast(ddp_group *group, const ddp_param_table *table, int sharded,
                                   int root, ddp_error *err)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *param = &table->params[i];

        for (int k = sharded ? ddp_moments_trained(table, param) : 0;
             k < DDP_OPTIMIZER_BUFFERS && param->optimizer.buffer[k]; k++)
            if (broadcast(group, table->device, param->optimizer.buffer[k], param->count, root,
                          err))
                return ddp_wrap(err, "%s of layer %d (%s) %s", param->optimizer.name[k],
                                param->layer, param->kind, param->part);
    }
    return DDP_OK;
}

static ddp_status allocate(ddp_buffers *b, ddp_error *err)
{
    for (size_t i = 0; i < b->table->buffer_count; i++)
        b->count += b->table->buffers[i].count;
    b->framework_memory = calloc(b->table->buffer_count + 1, sizeof *b->framework_memory);
    if (!b->framework_memory)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu buffers", b->table->buffer_count);
    if (ddp_group_alloc_memory(b->group, b->table->device, &b->memory, b->count, err))
        return ddp_wrap(err, "BatchNorm statistics");
    return ddp_allreduce_open_on(&b->sum, b->group, b->table->device, b->memory, b->count,
                                 DDP_WIRE_FP32, err);
}

static void take_buffers(ddp_buffers *b)
{
    size_t at = 0;

    for (size_t i = 0; i < b->table->buffer_count; i++) {
        const ddp_buffer *buffer = &b->table->buffers[i];

        ddp_device_copy(b->table->device, b->memory + at, *buffer->slot, buffer->count);
        b->framework_memory[i] = *buffer->slot;
        *buffer->slot = b->memory + at;
        at += buffer->count;
    }
}

static void return_buffers(ddp_buffers *b)
{
    for (size_t i = 0; i < b->table->buffer_count; i++) {
        const ddp_buffer *buffer = &b->table->buffers[i];

        if (!b->framework_memory[i])
            continue;
        ddp_device_copy(b->table->device, b->framework_memory[i], *buffer->slot, buffer->count);
        *buffer->slot = b->framework_memory[i];
    }
}

ddp_status ddp_buffers_open(ddp_buffers **out, ddp_group *group, const ddp_param_table *table,
                            ddp_error *err)
{
    ddp_buffers *b = calloc(1, sizeof *b);

    *out = NULL;
    if (!b)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for buffers");
    b->group = group;
    b->table = table;
    if (allocate(b, err)) {
        ddp_buffers_close(b);
        return err->code;
    }
    take_buffers(b);
    *out = b;
    return DDP_OK;
}

void ddp_buffers_close(ddp_buffers *b)
{
    if (!b)
        return;
    if (b->framework_memory)
        return_buffers(b);
    ddp_work_close(b->sum);
    ddp_group_free_memory(b->group, b->table->device, b->memory);
    free(b->framework_memory);
    free(b);
}

size_t ddp_buffers_bytes(const ddp_buffers *b)
{
    return b->count * sizeof(float);
}

float *ddp_buffers_values(const ddp_buffers *b)
{
    return b->memory;
}

ddp_status ddp_buffers_start_copy(ddp_buffers *b, int root, ddp_error *err)
{
    if (ddp_group_rank(b->group) != root)
        ddp_device_zero(b->table->device, b->memory, b->count);
    return ddp_buffers_start_sum(b, err);
}

ddp_status ddp_buffers_start_sum(ddp_buffers *b, ddp_error *err)
{
    if (b->count == 0)
        return DDP_OK;
    if (ddp_work_start(b->sum, err))
        return ddp_wrap(err, "BatchNorm statistics");
    b->started = 1;
    return DDP_OK;
}

ddp_status ddp_buffers_fence(ddp_buffers *b, ddp_error *err)
{
    if (!b->started)
        return DDP_OK;
    b->started = 0;
    if (ddp_work_fence(b->sum, err))
        return ddp_wrap(err, "BatchNorm statistics");
    return DDP_OK;
}

int ddp_buffers_finite(const ddp_buffers *b)
{
    return b->started || ddp_work_finite(b->sum);
}
