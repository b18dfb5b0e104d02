#include "core/state.h"

#include <stdlib.h>
#include <string.h>

struct ddp_buffers {
    ddp_group *group;
    const ddp_table *table;
    float *memory;
    size_t count;
    float **framework_memory; /* per buffer */
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

ddp_status ddp_buffers_open(ddp_buffers **out, ddp_group *group, const ddp_table *table,
                            ddp_error *err)
{
    ddp_buffers *b = calloc(1, sizeof *b);
    size_t at = 0;

    *out = NULL;
    if (!b)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for buffers");
    b->group = group;
    b->table = table;
    for (size_t i = 0; i < table->buffer_count; i++)
        b->count += table->buffers[i].count;
    b->memory = calloc(b->count + 1, sizeof(float));
    b->framework_memory = calloc(table->buffer_count + 1, sizeof *b->framework_memory);
    if (!b->memory || !b->framework_memory) {
        free(b->memory);
        free(b->framework_memory);
        free(b);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for buffers");
    }
    for (size_t i = 0; i < table->buffer_count; i++) {
        const ddp_buffer *buffer = &table->buffers[i];

        memcpy(b->memory + at, *buffer->slot, buffer->count * sizeof(float));
        b->framework_memory[i] = *buffer->slot;
        *buffer->slot = b->memory + at;
        at += buffer->count;
    }
    *out = b;
    return DDP_OK;
}

void ddp_buffers_close(ddp_buffers *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->table->buffer_count; i++) {
        const ddp_buffer *buffer = &b->table->buffers[i];

        memcpy(b->framework_memory[i], *buffer->slot, buffer->count * sizeof(float));
        *buffer->slot = b->framework_memory[i];
    }
    free(b->memory);
    free(b->framework_memory);
    free(b);
}

size_t ddp_buffers_bytes(const ddp_buffers *b)
{
    return b->count * sizeof(float);
}

ddp_status ddp_buffers_broadcast(ddp_buffers *b, ddp_error *err)
{
    if (b->count == 0)
        return DDP_OK;
    if (ddp_broadcast(b->group, b->memory, b->count * sizeof(float), 0, err))
        return ddp_wrap(err, "BatchNorm statistics");
    return DDP_OK;
}
