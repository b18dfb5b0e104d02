#include "glue/trainer_state.h"

#include <blas.h>

/* Updates that are shared out over ranks (core/shard.h). Darknet's update of a layer calls in here
 * for each of its arrays, and what else it does to them, clipping say, does no harm to values that
 * other ranks' will replace. */

typedef void (*optimizer)(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a);

static optimizer optimizer_of(const ddp_trainer *t)
{
#ifdef GPU
    if (!ddp_device_is_host(t->table.device))
        return optimize_gpu;
#endif
    (void)t;
    return optimize_cpu;
}

void ddp_trainer_optimize_share(int n, float *w, float *g, float *momentum, float *m, float *v,
                                float rate, float decay, update_args a)
{
    const ddp_trainer *t = a.optimize_ctx;
    optimizer optimize = optimizer_of(t);
    size_t count;
    const ddp_shard_part *parts = ddp_shard_parts(ddp_reducer_shard(t->reducer), g, &count);

    a.optimize = NULL;
    if (!parts) {
        optimize(n, w, g, momentum, m, v, rate, decay, a);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const ddp_shard_part *p = &parts[i];
        int adam = a.adam && p->moments[1];

        optimize((int)(p->end - p->begin), w + p->begin, g + p->begin, adam ? NULL : p->moments[0],
                 adam ? p->moments[0] : NULL, p->moments[1], rate, decay, a);
    }
}

void ddp_trainer_spread(ddp_trainer *t)
{
    ddp_error err;

    if (!t->spread_due)
        return;
    t->spread_due = 0;
    ddp_trainer_check(t, ddp_reducer_spread(t->reducer, &err), &err);
}

void ddp_trainer_share_out(ddp_trainer *t, int layer_index)
{
    if (!ddp_reducer_shard(t->reducer))
        return;
    t->spread_due = 1;
    t->deferred[layer_index] = 1;
}

int ddp_trainer_take(ddp_trainer *t, int layer_index)
{
    ddp_error err;

    if (!ddp_reducer_shard(t->reducer))
        return 0;
    ddp_trainer_check(t, ddp_reducer_layer_take(t->reducer, layer_index, &err), &err);
    ddp_trainer_look(t);
    return 1;
}

void ddp_trainer_set_first_moments(ddp_trainer *t, const ddp_shard_first *first)
{
    t->config.reducer.first_moments = first;
}
