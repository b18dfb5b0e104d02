#include "compressed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double compressed_m(const struct compressed_model *m, const struct compressed_net *net, int rank,
                    int step, size_t p, size_t i)
{
    return (double)compressed_gradient(net, rank, step, p, i) + m->error[rank][p][i];
}

/* ---- a step ---- */

static void define_plain(struct compressed_model *m, const struct compressed_net *net, int step,
                         size_t p)
{
    for (int r = 0; r < m->size; r++)
        for (size_t i = 0; i < compressed_count(net, p); i++)
            m->sum[p][i] += (double)compressed_gradient(net, r, step, p, i);
}

static void define(struct compressed_model *m, const struct compressed_net *net, int step)
{
    memset(m->sum, 0, sizeof m->sum);
    for (size_t p = 0; p < net->params; p++) {
        if (!compressed_runs(net, net->shapes[p].layer, step))
            continue;
        if (!net->shapes[p].is_compressed)
            define_plain(m, net, step, p);
        else
            net->define(m, net, step, p);
    }
}

static void begin(struct compressed_model *m, const struct compressed *c, int size)
{
    memset(m, 0, sizeof *m);
    m->size = size;
    if (c->net->begin)
        c->net->begin(m, c);
}

static void compare(struct rank *me, const struct compressed_net *net, const char *what, int step,
                    size_t p, const float *got, const double *want)
{
    for (size_t i = 0; i < compressed_count(net, p); i++)
        if (!(fabs((double)got[i] - want[i]) <= net->tolerance)) {
            rank_wrong(me, "step %d, parameter %zu: %s [%zu] is %.7g, not %.7g", step, p, what, i,
                       (double)got[i], want[i]);
            return;
        }
}

static void compare_all(struct rank *me, const struct compressed *c,
                        const struct compressed_model *m, int step, const float *results)
{
    for (size_t p = 0; p < c->net->params; p++) {
        struct compressed_memory memory = compressed_memory(c, p);

        compare(me, c->net, "the sum", step, p, results + compressed_result(0, p), m->sum[p]);
        if (!memory.error != !c->net->shapes[p].is_compressed
            || !memory.q != !(memory.error && compressed_array(c, DDP_STATE_SAME) >= 0))
            rank_wrong(me, "parameter %zu: another memory", p);
        if (memory.error)
            compare(me, c->net, "the error", step, p, results + compressed_result(1, p),
                    m->error[me->rank][p]);
    }
}

void compressed_take_steps(struct rank *me, const struct compressed_net *net, ddp_device *d,
                           const ddp_reducer_config *config, int drop,
                           struct compressed_model *model, float *results)
{
    enum { STEPS = 6 };
    struct compressed c;

    if (!compressed_open_reducer(&c, net, d, config, me))
        return;
    begin(model, &c, me->size);
    for (int step = 0; step < STEPS; step++) {
        compressed_backward(&c, me, step, drop);
        compressed_wait(&c, me, step);
        define(model, net, step);
        compressed_keep(&c, results);
        compare_all(me, &c, model, step, results);
        compressed_clear(&c);
    }
    rank_meet(me);
    compressed_close(&c);
}
