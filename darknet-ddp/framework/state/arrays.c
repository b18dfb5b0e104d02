#include "state/arrays.h"

#include <stdlib.h>

enum { STATE_NAME = 48 };

const char ddp_checkpoint_value_name[] = "value";

static size_t add_array(ddp_checkpoint_array *list, size_t at, ddp_checkpoint_array array)
{
    list[at] = array;
    return at + 1;
}

/* Of a parameter, the table's i-th. */
static ddp_checkpoint_array moment(const ddp_param_table *table, size_t i, int k, int shared)
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

static size_t add_values(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table)
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

/* Rank is below 0 where the array is the same on all. */
static void write_name(char out[STATE_NAME], const ddp_state_spec *spec, int rank)
{
    if (rank < 0)
        (void)snprintf(out, STATE_NAME, "%s", spec->name);
    else
        (void)snprintf(out, STATE_NAME, "%s %d", spec->name, rank % 100000);
}

static size_t add_state(ddp_checkpoint_array *list, size_t at, const ddp_param *p, const char *name,
                        size_t count, float *data)
{
    if (count == 0)
        return at;
    return add_array(list, at, (ddp_checkpoint_array){p->layer, p->part, name, count, data, 0});
}

/* Of one parameter, what stands with its moments. */
static size_t add_moments_of_state(ddp_checkpoint_array *list, size_t at, const ddp_param *p,
                                   size_t i, const ddp_state *s)
{
    for (size_t k = 0; k < ddp_state_arrays(s); k++) {
        const ddp_state_spec *spec = ddp_state_spec_of(s, k);

        if (spec->is_moment)
            at = add_state(list, at, p, spec->name, ddp_state_count(s, k, i),
                           ddp_state_host(s, k, i));
    }
    return at;
}

/* One declaration's arrays, of one rank or, below 0, of all. *names has room for another name. */
static size_t add_declared(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                           const ddp_state *s, size_t k, int rank, char (**names)[STATE_NAME])
{
    char *name = *(*names)++;

    write_name(name, ddp_state_spec_of(s, k), rank);
    for (size_t i = 0; i < table->param_count; i++)
        at =
            add_state(list, at, &table->params[i], name, ddp_state_count(s, k, i),
                      rank < 0 ? ddp_state_host(s, k, i) : ddp_state_gathered_array(s, k, rank, i));
    return at;
}

/* What stands behind all else: what is the same on all ranks, then each rank's own, of ranks one
 * after the other. */
static size_t add_rest_of_state(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                                const ddp_state *s, char (*names)[STATE_NAME])
{
    for (int rank = -1; rank < (s ? ddp_state_gathered(s) : 0); rank++)
        for (size_t k = 0; k < ddp_state_arrays(s); k++) {
            const ddp_state_spec *spec = ddp_state_spec_of(s, k);

            if (!spec->is_moment && spec->kind == (rank < 0 ? DDP_STATE_SAME : DDP_STATE_OF_RANK))
                at = add_declared(list, at, table, s, k, rank, &names);
        }
    return at;
}

ddp_status ddp_checkpoint_list(ddp_checkpoint_array **list, size_t *count,
                               const ddp_param_table *table, const ddp_state *state,
                               ddp_checkpoint_kinds kinds, ddp_error *err)
{
    size_t names = state ? ddp_state_arrays(state) * ((size_t)ddp_state_gathered(state) + 1) : 0;
    size_t most = table->param_count * (DDP_OPTIMIZER_BUFFERS + 1 + names) + table->buffer_count;

    *count = 0;
    *list = calloc(1, (most + 1) * sizeof **list + names * STATE_NAME);
    if (!*list)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu arrays", most);
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *p = &table->params[i];

        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && p->optimizer.buffer[k]; k++)
            *count = add_array(*list, *count, moment(table, i, k, kinds.shared));
        *count = add_moments_of_state(*list, *count, p, i, state);
    }
    if (kinds.values)
        *count = add_values(*list, *count, table);
    *count = add_rest_of_state(*list, *count, table, state,
                               (char(*)[STATE_NAME])(void *)(*list + most + 1));
    return DDP_OK;
}
