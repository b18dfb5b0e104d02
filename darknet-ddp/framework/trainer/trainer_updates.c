/* Lets an algorithm such as ZeRO-1 (ddp_update_plug) update the parameters. Darknet's update of a
 * layer calls ddp_trainer_optimize for each of its arrays. Darknet then may change the whole array,
 * by clipping for example. Each part that another rank updates is later replaced by that rank's
 * values. */
#include "trainer/trainer_state.h"

#include <blas.h>

typedef void (*optimizer)(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a);

/* Darknet's, of one array. */
struct update {
    ddp_array_update array;
    optimizer optimize;
    float *momentum, *m, *v;
    float rate, decay;
    update_args args;
};

static optimizer optimizer_of(const ddp_trainer *t)
{
#ifdef GPU
    if (!ddp_device_is_host(t->table.device))
        return optimize_gpu;
#endif
    (void)t;
    return optimize_cpu;
}

static void apply(const ddp_array_update *array, size_t begin, size_t end, float *const *moments)
{
    const struct update *u = (const struct update *)array; /* its first member */
    int n = (int)(end - begin);
    float *w = array->value + begin, *g = array->gradient + begin;

    if (!moments)
        u->optimize(n, w, g, u->momentum, u->m, u->v, u->rate, u->decay, u->args);
    else if (u->args.adam && moments[1])
        u->optimize(n, w, g, NULL, moments[0], moments[1], u->rate, u->decay, u->args);
    else
        u->optimize(n, w, g, moments[0], NULL, moments[1], u->rate, u->decay, u->args);
}

void ddp_trainer_optimize(int n, float *w, float *g, float *momentum, float *m, float *v,
                          float rate, float decay, update_args a)
{
    const ddp_trainer *t = a.optimize_ctx;
    struct update u = {
        .array = {.value = w, .gradient = g, .count = (size_t)n, .apply = apply},
        .optimize = optimizer_of(t),
        .momentum = momentum,
        .m = m,
        .v = v,
        .rate = rate,
        .decay = decay,
        .args = a,
    };

    u.args.optimize = NULL;
    t->updates.plug->optimize(t->updates.self, &u.array);
}

void ddp_trainer_expect_updated(ddp_trainer *t, int layer_index)
{
    if (!t->updates.plug)
        return;
    t->updates.end_due = 1;
    t->deferred[layer_index] = 1;
}

void ddp_trainer_end_updates(ddp_trainer *t)
{
    ddp_error err;

    if (!t->updates.end_due)
        return;
    t->updates.end_due = 0;
    ddp_trainer_check(t, t->updates.plug->end_updates(t->updates.self, &err), &err);
}

int ddp_trainer_receive_updated(ddp_trainer *t, int layer_index)
{
    ddp_error err;

    if (!t->updates.plug)
        return 0;
    ddp_trainer_check(t, t->updates.plug->receive_layer(t->updates.self, layer_index, &err), &err);
    ddp_trainer_check_arrived(t);
    return 1;
}
