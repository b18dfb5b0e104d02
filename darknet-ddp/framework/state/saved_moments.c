#include "state/saved_moments.h"

#include <stdlib.h>
#include <string.h>

struct ddp_saved_moments {
    ddp_checkpoint checkpoint;
    size_t *array; /* by parameter: which of the checkpoint's is its first moment */
    ddp_sharded_source first;
};

static ddp_status read_block(void *ctx, const ddp_sharded_block *b, float *x, ddp_error *err)
{
    const ddp_saved_moments *m = ctx;

    if (ddp_checkpoint_get(&m->checkpoint, m->array[b->param] + (size_t)b->moment, b->at, x,
                           b->count, err))
        return ddp_wrap(err, "the state file");
    return DDP_OK;
}

/* Which of the arrays it is; the others of the parameter follow it. */
static size_t first_moment(const ddp_checkpoint *c, const ddp_param *p)
{
    size_t i = 0;

    while (i < c->array_count && p->optimizer.name[0]
           && (c->arrays[i].layer != p->layer || strcmp(c->arrays[i].part, p->part) != 0
               || strcmp(c->arrays[i].name, p->optimizer.name[0]) != 0))
        i++;
    return i;
}

ddp_status ddp_saved_moments_open(ddp_saved_moments **out, ddp_checkpoint *c,
                                  const ddp_param_table *table, ddp_error *err)
{
    ddp_saved_moments *m = calloc(1, sizeof *m);

    *out = NULL;
    if (m)
        m->array = calloc(table->param_count + 1, sizeof *m->array);
    if (!m || !m->array) {
        free(m);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu parameters", table->param_count);
    }
    for (size_t i = 0; i < table->param_count; i++)
        m->array[i] = first_moment(c, &table->params[i]);
    m->checkpoint = *c;
    *c = (ddp_checkpoint){0};
    m->first = (ddp_sharded_source){read_block, m};
    *out = m;
    return DDP_OK;
}

void ddp_saved_moments_close(ddp_saved_moments *m)
{
    if (!m)
        return;
    ddp_checkpoint_release(&m->checkpoint);
    free(m->array);
    free(m);
}

const ddp_sharded_source *ddp_saved_moments_source(const ddp_saved_moments *m)
{
    return m ? &m->first : NULL;
}
