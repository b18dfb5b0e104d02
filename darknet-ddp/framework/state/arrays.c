#include "state/arrays.h"

#include "state/feedback.h"

#include <stdlib.h>

const char ddp_checkpoint_value_name[] = "value";
const char ddp_checkpoint_slow_name[] = "slow momentum";

static size_t add_array(ddp_checkpoint_array *list, size_t at, ddp_checkpoint_array array)
{
    list[at] = array;
    return at + 1;
}

/* Of a parameter, the table's i-th. */
static ddp_checkpoint_array moment(const ddp_table *table, size_t i, int k, int shared)
{
    const ddp_param *p = &table->params[i];
    int elsewhere = shared && k < ddp_moments_trained(table, p);

    return (ddp_checkpoint_array){.layer = p->layer,
                                  .part = p->part,
                                  .name = p->optimizer.name[k],
                                  .count = p->count,
                                  .data = elsewhere ? NULL : p->optimizer.buffer[k],
                                  .key = i * DDP_OPTIMIZER_BUFFERS + (size_t)k};
}

static size_t add_values(ddp_checkpoint_array *list, size_t at, const ddp_table *table)
{
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *p = &table->params[i];

        at = add_array(list, at,
                       (ddp_checkpoint_array){p->layer, p->part, ddp_checkpoint_value_name,
                                              p->count, p->value, 0});
    }
    for (size_t i = 0; i < table->buffer_count; i++) {
        const ddp_buffer *b = &table->buffers[i];

        at = add_array(list, at,
                       (ddp_checkpoint_array){b->layer, b->part, ddp_checkpoint_value_name,
                                              b->count, *b->slot, 0});
    }
    return at;
}

/* Of ranks one after the other; names has room for each. */
static size_t add_feedback(ddp_checkpoint_array *list, size_t at, const ddp_table *table,
                           const ddp_feedback *f, char (*names)[DDP_CHECKPOINT_ERROR_NAME])
{
    for (int rank = -1; rank < ddp_feedback_gathered(f); rank++) {
        char *name = names[rank + 1];

        if (rank >= 0)
            ddp_checkpoint_error_name(name, rank);
        for (size_t i = 0; i < table->param_count; i++) {
            const ddp_param *p = &table->params[i];
            ddp_shape s = ddp_feedback_shape(f, i);

            if (s.rank && rank < 0)
                at = add_array(list, at,
                               (ddp_checkpoint_array){p->layer, p->part, ddp_checkpoint_q_name,
                                                      s.columns * s.rank,
                                                      ddp_feedback_memory(f, i).q, 0});
            else if (s.rows && rank >= 0)
                at = add_array(list, at,
                               (ddp_checkpoint_array){p->layer, p->part, name, p->count,
                                                      ddp_feedback_gathered_error(f, rank, i), 0});
        }
    }
    return at;
}

ddp_status ddp_checkpoint_list(ddp_checkpoint_array **list, size_t *count, const ddp_table *table,
                               const ddp_slow_momentum *slow, const ddp_feedback *feedback,
                               ddp_checkpoint_kinds kinds, ddp_error *err)
{
    size_t ranks = feedback ? (size_t)ddp_feedback_gathered(feedback) + 1 : 0;
    size_t most = table->param_count * (DDP_OPTIMIZER_BUFFERS + 2 + ranks) + table->buffer_count;

    *count = 0;
    *list = calloc(1, (most + 1) * sizeof **list + ranks * DDP_CHECKPOINT_ERROR_NAME);
    if (!*list)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu arrays", most);
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *p = &table->params[i];

        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && p->optimizer.buffer[k]; k++)
            *count = add_array(*list, *count, moment(table, i, k, kinds.shared));
        if (kinds.slow)
            *count = add_array(
                *list, *count,
                (ddp_checkpoint_array){p->layer, p->part, ddp_checkpoint_slow_name, p->count,
                                       slow ? ddp_slow_momentum_arrays(slow)[i] : NULL, 0});
    }
    if (kinds.values)
        *count = add_values(*list, *count, table);
    if (feedback)
        *count = add_feedback(*list, *count, table, feedback,
                              (char(*)[DDP_CHECKPOINT_ERROR_NAME])(void *)(*list + most + 1));
    return DDP_OK;
}
