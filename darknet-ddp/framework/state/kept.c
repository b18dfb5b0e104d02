#include "state/kept.h"

#include <stdlib.h>
#include <string.h>

const char ddp_checkpoint_value_name[] = "value";

/* ---- saving ---- */

size_t ddp_kept_name_count(const ddp_state *s)
{
    return s ? ddp_state_set_count(s) * ((size_t)ddp_state_gathered_ranks(s) + 1) : 0;
}

/* Rank is below 0 where the array is the same on all. */
static void write_name(char out[DDP_KEPT_NAME], const ddp_state_spec *spec, int rank)
{
    if (rank < 0)
        (void)snprintf(out, DDP_KEPT_NAME, "%s", spec->name);
    else
        (void)snprintf(out, DDP_KEPT_NAME, "%s %d", spec->name, rank % 100000);
}

static size_t add_state(ddp_checkpoint_array *list, size_t at, const ddp_param *p, const char *name,
                        size_t count, float *data)
{
    if (count == 0)
        return at;
    list[at] = (ddp_checkpoint_array){p->layer, p->part, name, count, data, 0};
    return at + 1;
}

size_t ddp_kept_add_moments(ddp_checkpoint_array *list, size_t at, const ddp_param *p, size_t i,
                            const ddp_state *s)
{
    for (size_t k = 0; k < ddp_state_set_count(s); k++) {
        const ddp_state_spec *spec = ddp_state_set_spec(s, k);

        if (spec->is_moment)
            at = add_state(list, at, p, spec->name, ddp_state_floats(s, k, i),
                           ddp_state_host(s, k, i));
    }
    return at;
}

/* One declaration's arrays, of one rank or, below 0, of all. *names has room for another name. */
static size_t add_declared(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                           const ddp_state *s, size_t k, int rank, char (**names)[DDP_KEPT_NAME])
{
    char *name = *(*names)++;

    write_name(name, ddp_state_set_spec(s, k), rank);
    for (size_t i = 0; i < table->param_count; i++)
        at =
            add_state(list, at, &table->params[i], name, ddp_state_floats(s, k, i),
                      rank < 0 ? ddp_state_host(s, k, i) : ddp_state_gathered_array(s, k, rank, i));
    return at;
}

size_t ddp_kept_add_rest(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                         const ddp_state *s, char (*names)[DDP_KEPT_NAME])
{
    for (int rank = -1; rank < (s ? ddp_state_gathered_ranks(s) : 0); rank++)
        for (size_t k = 0; k < ddp_state_set_count(s); k++) {
            const ddp_state_spec *spec = ddp_state_set_spec(s, k);

            if (!spec->is_moment && spec->kind == (rank < 0 ? DDP_STATE_SAME : DDP_STATE_OF_RANK))
                at = add_declared(list, at, table, s, k, rank, &names);
        }
    return at;
}

/* ---- resuming ---- */

/* Is the array one of the network's own, a parameter, a statistic or a moment? */
static int is_own(const ddp_checkpoint_array *a, const ddp_param_table *table)
{
    if (strcmp(a->name, ddp_checkpoint_value_name) == 0)
        return 1;
    for (size_t i = 0; i < table->param_count; i++)
        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && table->params[i].optimizer.name[k]; k++)
            if (strcmp(a->name, table->params[i].optimizer.name[k]) == 0)
                return 1;
    return 0;
}

ddp_status ddp_checkpoint_without_state(ddp_checkpoint *base, const ddp_checkpoint *c,
                                        const ddp_param_table *table, ddp_error *err)
{
    *base = *c;
    base->array_count = 0;
    base->arrays = calloc(c->array_count + 1, sizeof *base->arrays);
    if (!base->arrays)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu arrays", c->array_count);
    for (size_t i = 0; i < c->array_count; i++)
        if (is_own(&c->arrays[i], table))
            base->arrays[base->array_count++] = c->arrays[i];
    return DDP_OK;
}

static size_t find_param(const ddp_param_table *table, const ddp_checkpoint_array *a)
{
    size_t i = 0;

    while (i < table->param_count
           && (table->params[i].layer != a->layer || strcmp(table->params[i].part, a->part) != 0))
        i++;
    return i;
}

/* Does the array stand for this declaration? *rank: whose it is; below 0: all ranks'. */
static int is_of(const ddp_checkpoint_array *a, const ddp_state_spec *spec, int *rank)
{
    size_t length = strlen(spec->name);
    const char *behind = a->name + length;
    char *end = NULL;

    *rank = -1;
    if (strncmp(a->name, spec->name, length) != 0 || spec->kind == DDP_STATE_SCRATCH)
        return 0;
    if (spec->kind == DDP_STATE_SAME)
        return *behind == '\0';
    if (behind[0] != ' ' || behind[1] < '0' || behind[1] > '9')
        return 0;
    *rank = (int)strtol(behind + 1, &end, 10);
    return *end == '\0';
}

/* Return how many ranks c has arrays of: one more than the highest rank that one of them names. */
static int ranks_of(const ddp_checkpoint *c, const ddp_state *s)
{
    int ranks = 0, rank;

    for (size_t i = 0; i < c->array_count; i++)
        for (size_t k = 0; k < ddp_state_set_count(s); k++)
            if (is_of(&c->arrays[i], ddp_state_set_spec(s, k), &rank) && rank >= ranks
                && (uint64_t)rank < c->metadata.ranks)
                ranks = rank + 1;
    return ranks;
}

/* Where the array's numbers go; NULL: nowhere. */
static float *place_of(const ddp_checkpoint_array *a, const ddp_param_table *table,
                       const ddp_state *s, int ranks)
{
    size_t i = find_param(table, a);

    for (size_t k = 0; k < ddp_state_set_count(s) && i < table->param_count; k++) {
        int rank;

        if (!is_of(a, ddp_state_set_spec(s, k), &rank) || a->count != ddp_state_floats(s, k, i))
            continue;
        if (rank < 0)
            return ddp_state_host(s, k, i);
        return rank < ranks ? ddp_state_gathered_array(s, k, rank, i) : NULL;
    }
    return NULL;
}

static size_t expected(const ddp_param_table *table, const ddp_state *s, int ranks)
{
    size_t count = 0;

    for (size_t k = 0; k < ddp_state_set_count(s); k++) {
        ddp_state_kind kind = ddp_state_set_spec(s, k)->kind;

        for (size_t i = 0; i < table->param_count && kind != DDP_STATE_SCRATCH; i++)
            if (ddp_state_floats(s, k, i) > 0)
                count += kind == DDP_STATE_OF_RANK ? (size_t)ranks : 1;
    }
    return count;
}

static ddp_status check(const ddp_checkpoint *c, size_t want, size_t found, size_t others,
                        ddp_error *err)
{
    if (found == want && others == 0)
        return DDP_OK;
    if (c->metadata.ranks == 1 && found == 0 && others == 0) /* who was alone may keep nothing */
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_MISMATCH,
                    "of %zu arrays that this run keeps beside the network's it has %zu, and %zu "
                    "others",
                    want, found, others);
}

ddp_status ddp_checkpoint_load_state(const ddp_checkpoint *c, const ddp_param_table *table,
                                     ddp_state *s, int force, ddp_error *err)
{
    size_t found = 0, others = 0;
    int ranks = ranks_of(c, s);

    if (ddp_state_set_count(s) == 0)
        return DDP_OK;
    if (ranks > 0 && ddp_state_reserve(s, ranks, err))
        return err->code;
    for (size_t i = 0; i < c->array_count; i++) {
        float *to = place_of(&c->arrays[i], table, s, ranks);

        if (to && ddp_checkpoint_get(c, i, 0, to, c->arrays[i].count, err))
            return err->code;
        found += to != NULL;
        others += !to && !is_own(&c->arrays[i], table);
    }
    return force ? DDP_OK
                 : check(c, expected(table, s, (int)c->metadata.ranks), found, others, err);
}
