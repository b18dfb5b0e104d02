#include "state/feedback.h"

#include <stdlib.h>
#include <string.h>

const char ddp_checkpoint_q_name[] = "PowerSGD Q";
static const char error_word[] = "error ";

void ddp_checkpoint_error_name(char out[DDP_CHECKPOINT_ERROR_NAME], int rank)
{
    (void)snprintf(out, DDP_CHECKPOINT_ERROR_NAME, "%s%d", error_word, rank % 100000);
}

static int is_error(const ddp_checkpoint_array *a)
{
    return strncmp(a->name, error_word, strlen(error_word)) == 0;
}

static int is_q(const ddp_checkpoint_array *a)
{
    return strcmp(a->name, ddp_checkpoint_q_name) == 0;
}

size_t ddp_checkpoint_without_feedback(const ddp_checkpoint *c)
{
    size_t count = 0;

    while (count < c->array_count && !is_error(&c->arrays[count]) && !is_q(&c->arrays[count]))
        count++;
    return count;
}

/* How many ranks the checkpoint has errors of: 0 to one less. */
static int ranks_of(const ddp_checkpoint *c)
{
    int ranks = 0;

    for (size_t i = ddp_checkpoint_without_feedback(c); i < c->array_count; i++) {
        int rank = is_error(&c->arrays[i]) ? atoi(c->arrays[i].name + strlen(error_word)) : -1;

        if (rank >= ranks && (uint64_t)rank < c->metadata.ranks)
            ranks = rank + 1;
    }
    return ranks;
}

static size_t find_param(const ddp_table *table, const ddp_checkpoint_array *a)
{
    size_t i = 0;

    while (i < table->param_count
           && (table->params[i].layer != a->layer || strcmp(table->params[i].part, a->part) != 0))
        i++;
    return i;
}

/* Where the array's numbers go; NULL: nowhere. */
static float *place_of(const ddp_checkpoint_array *a, const ddp_table *table, ddp_feedback *f,
                       int ranks)
{
    size_t i = find_param(table, a);
    ddp_shape s = i < table->param_count ? ddp_feedback_shape(f, i) : (ddp_shape){0};
    int rank;

    if (!s.rows)
        return NULL;
    if (is_q(a))
        return s.rank && a->count == s.columns * s.rank ? ddp_feedback_memory(f, i).q : NULL;
    rank = atoi(a->name + strlen(error_word));
    if (!is_error(a) || rank < 0 || rank >= ranks || a->count != s.rows * s.columns)
        return NULL;
    return ddp_feedback_gathered_error(f, rank, i);
}

static size_t expected(const ddp_feedback *f, int ranks)
{
    size_t count = 0;

    for (size_t i = 0; i < ddp_feedback_params(f); i++) {
        ddp_shape s = ddp_feedback_shape(f, i);

        count += s.rows ? (size_t)ranks + (s.rank > 0) : 0;
    }
    return count;
}

ddp_status ddp_checkpoint_load_feedback(const ddp_checkpoint *c, const ddp_table *table,
                                        ddp_feedback *f, int force, ddp_error *err)
{
    size_t begin = ddp_checkpoint_without_feedback(c), found = 0;
    int ranks = ranks_of(c);

    if (c->metadata.ranks == 1 && begin == c->array_count) /* one that was alone keeps nothing */
        return DDP_OK;
    if (ranks > 0 && ddp_feedback_reserve(f, ranks, err))
        return err->code;
    for (size_t i = begin; i < c->array_count; i++) {
        float *to = place_of(&c->arrays[i], table, f, ranks);

        if (!to)
            continue;
        if (ddp_checkpoint_get(c, i, 0, to, c->arrays[i].count, err))
            return err->code;
        found++;
    }
    if (force
        || (found == c->array_count - begin && found == expected(f, ranks)
            && ((uint64_t)ranks == c->metadata.ranks || expected(f, 1) == 0)))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_MISMATCH,
                    "of %zu arrays that compressed gradients need it has %zu, and %zu others",
                    expected(f, (int)c->metadata.ranks), found, c->array_count - begin - found);
}
