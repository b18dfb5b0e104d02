#include "core/state.h"

#include <stdlib.h>
#include <string.h>

struct ddp_buffers {
    ddp_group *group;
    const ddp_table *table;
    float *memory;
    size_t count;
    float **framework_memory; /* per buffer */
    ddp_allreduce *sum;
    int started;
};

ddp_status ddp_params_broadcast(ddp_group *group, const ddp_table *table, ddp_error *err)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *param = &table->params[i];

        if (ddp_broadcast(group, param->value, param->count * sizeof(float), 0, err))
            return ddp_wrap(err, "layer %d (%s) %s", param->layer, param->kind, param->part);
    }
    return DDP_OK;
}

ddp_status ddp_optimizer_broadcast(ddp_group *group, const ddp_table *table, ddp_error *err)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *param = &table->params[i];

        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && param->optimizer.buffer[k]; k++)
            if (ddp_broadcast(group, param->optimizer.buffer[k], param->count * sizeof(float), 0,
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
    b->memory = calloc(b->count + 1, sizeof(float));
    b->framework_memory = calloc(b->table->buffer_count + 1, sizeof *b->framework_memory);
    if (!b->memory || !b->framework_memory)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu elements of buffers", b->count);
    return ddp_allreduce_open(&b->sum, b->group, b->memory, b->count, err);
}

static void take_buffers(ddp_buffers *b)
{
    size_t at = 0;

    for (size_t i = 0; i < b->table->buffer_count; i++) {
        const ddp_buffer *buffer = &b->table->buffers[i];

        memcpy(b->memory + at, *buffer->slot, buffer->count * sizeof(float));
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
        memcpy(b->framework_memory[i], *buffer->slot, buffer->count * sizeof(float));
        *buffer->slot = b->framework_memory[i];
    }
}

ddp_status ddp_buffers_open(ddp_buffers **out, ddp_group *group, const ddp_table *table,
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
    ddp_allreduce_close(b->sum);
    free(b->memory);
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

ddp_status ddp_buffers_start(ddp_buffers *b, ddp_error *err)
{
    if (ddp_group_rank(b->group) != 0)
        memset(b->memory, 0, b->count * sizeof *b->memory);
    return ddp_buffers_sum(b, err);
}

ddp_status ddp_buffers_sum(ddp_buffers *b, ddp_error *err)
{
    if (b->count == 0)
        return DDP_OK;
    if (ddp_allreduce_start(b->sum, err))
        return ddp_wrap(err, "BatchNorm statistics");
    b->started = 1;
    return DDP_OK;
}

ddp_status ddp_buffers_wait(ddp_buffers *b, ddp_error *err)
{
    if (!b->started)
        return DDP_OK;
    b->started = 0;
    if (ddp_allreduce_wait(b->sum, err))
        return ddp_wrap(err, "BatchNorm statistics");
    return DDP_OK;
}
