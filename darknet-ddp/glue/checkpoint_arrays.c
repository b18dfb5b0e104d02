#include "glue/checkpoint_arrays.h"

#include <stdlib.h>

const char ddp_checkpoint_value_name[] = "value";
const char ddp_checkpoint_slow_name[] = "slow momentum";

static size_t add_array(ddp_checkpoint_array *list, size_t at, ddp_checkpoint_array array)
{
    list[at] = array;
    return at + 1;
}

static size_t add_values(ddp_checkpoint_array *list, size_t at, const ddp_table *table)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *p = &table->params[i];

        at = add_array(list, at,
                       (ddp_checkpoint_array){p->layer, p->part, ddp_checkpoint_value_name,
                                              p->count, p->value});
    }
    for (size_t i = 0; i < table->buffer_count; i++) {
        const ddp_buffer *b = &table->buffers[i];

        at = add_array(list, at,
                       (ddp_checkpoint_array){b->layer, b->part, ddp_checkpoint_value_name,
                                              b->count, *b->slot});
    }
    return at;
}

ddp_status ddp_checkpoint_list(ddp_checkpoint_array **list, size_t *count, const ddp_table *table,
                               const ddp_slow_momentum *slow, ddp_checkpoint_kinds kinds,
                               ddp_error *err)
{
    size_t most = table->param_count * (DDP_OPTIMIZER_BUFFERS + 2) + table->buffer_count;

    *count = 0;
    *list = calloc(most + 1, sizeof **list);
    if (!*list)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu arrays", most);
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *p = &table->params[i];

        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && p->optimizer.buffer[k]; k++)
            *count = add_array(*list, *count,
                               (ddp_checkpoint_array){p->layer, p->part, p->optimizer.name[k],
                                                      p->count, p->optimizer.buffer[k]});
        if (kinds.slow)
            *count = add_array(
                *list, *count,
                (ddp_checkpoint_array){p->layer, p->part, ddp_checkpoint_slow_name, p->count,
                                       slow ? ddp_slow_momentum_arrays(slow)[i] : NULL});
    }
    if (kinds.values)
        *count = add_values(*list, *count, table);
    return DDP_OK;
}
