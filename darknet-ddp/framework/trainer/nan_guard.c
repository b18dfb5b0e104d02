#include "trainer/nan_guard.h"

#include "base/is_finite.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "glue/bf16.h"
#include "glue/train_position.h"

#include <darknet.h>
#include <network.h>
#include <stdlib.h>

/* The finding of one rank, in the form in which ranks send it to each other. */
struct finding {
    int32_t origin, layer, mini_batch, unused;
    uint64_t sample;
};

ddp_nan_guard ddp_nan_guard_open(const ddp_nan_guard_config *config, ddp_group *group,
                                 const ddp_param_table *table, ddp_reducer *reducer, ddp_loss *loss,
                                 ddp_batchnorm_stats *statistics)
{
    return (ddp_nan_guard){.config = *config,
                           .group = group,
                           .table = table,
                           .reducer = reducer,
                           .loss = loss,
                           .statistics = statistics};
}

int ddp_nan_guard_may_skip(const ddp_nan_guard *g)
{
    return g->config.skip_most > 0;
}

/* ---- where it began, on this rank ---- */

static int all_finite(ddp_device *device, const float *x, size_t count, ddp_status *st,
                      ddp_error *err)
{
    int finite = 1;

    if (!*st && x)
        *st = ddp_device_check_finite(device, x, count, &finite, err);
    return finite;
}

static const float *output_of(const layer *l, int on_gpu)
{
#ifdef GPU
    if (on_gpu)
        return l->output_gpu;
#endif
    (void)on_gpu;
    return l->output;
}

static const float *delta_of(const layer *l, int on_gpu)
{
#ifdef GPU
    if (on_gpu)
        return l->delta_gpu;
#endif
    (void)on_gpu;
    return l->delta;
}

static size_t count_of(const layer *l)
{
    return l->outputs > 0 && l->batch > 0 ? (size_t)l->outputs * (size_t)l->batch : 0;
}

/* Sets *layer to where the last mini-batch's numbers ceased to be finite. */
static ddp_origin look_at(const ddp_nan_guard *g, const network *net, int *layer, ddp_status *st,
                          ddp_error *err)
{
    ddp_device *device = g->table->device;
    int on_gpu = !ddp_device_is_host(device);
    size_t batch = (size_t)net->batch;

    *layer = -1;
    if (net->input && !ddp_all_finite(net->input, (size_t)net->inputs * batch))
        return DDP_ORIGIN_INPUT;
    if (net->truth && !ddp_all_finite(net->truth, (size_t)net->truths * batch))
        return DDP_ORIGIN_TRUTH;
    for (*layer = 0; *layer < net->n; ++*layer) {
        const struct layer *l = &net->layers[*layer];

        if (!is_left_out(*net, *layer)
            && !(ddp_bf16_runs(l) ? ddp_bf16_finite(l, DDP_BF16_OUTPUT)
                                  : all_finite(device, output_of(l, on_gpu), count_of(l), st, err)))
            return DDP_ORIGIN_OUTPUT;
    }
    for (*layer = net->n - 1; *layer >= 0; --*layer) {
        const struct layer *l = &net->layers[*layer];

        if (!is_left_out(*net, *layer)
            && !(ddp_bf16_runs(l) ? ddp_bf16_finite(l, DDP_BF16_DELTA)
                                  : all_finite(device, delta_of(l, on_gpu), count_of(l), st, err)))
            return DDP_ORIGIN_DELTA;
    }
    *layer = -1;
    return DDP_ORIGIN_NONE;
}

ddp_status ddp_nan_guard_end_mini_batch(ddp_nan_guard *g, const network *net, int first, int number,
                                        ddp_error *err)
{
    ddp_train_position now = ddp_train_position_of(net);
    ddp_nan_guard_mini_batch *broken = &g->first_broken;
    ddp_status st = DDP_OK;

    if (first)
        *broken = (ddp_nan_guard_mini_batch){0};
    g->last = (ddp_nan_guard_mini_batch){.number = number, .sample = net->sample};
    g->step = now.step + !now.step_ends;
    g->unnoted = now.step_ends;
    if (broken->number || ddp_all_finite(net->cost, 1))
        return DDP_OK;
    *broken = g->last;
    broken->origin = look_at(g, net, &broken->layer, &st, err);
    if (broken->origin == DDP_ORIGIN_NONE)
        broken->origin = DDP_ORIGIN_LOSS;
    return st;
}

static struct finding find_here(const ddp_nan_guard *g, const network *net, ddp_status *st,
                                ddp_error *err)
{
    ddp_nan_guard_mini_batch m = g->first_broken;

    if (!m.number) {
        m = g->last;
        m.origin = look_at(g, net, &m.layer, st, err);
    }
    return (struct finding){
        .origin = (int32_t)m.origin, .layer = m.layer, .mini_batch = m.number, .sample = m.sample};
}

/* ---- and on all ---- */

static int is_earlier(const struct finding *a, const struct finding *b)
{
    int a_found = a->origin != DDP_ORIGIN_NONE, b_found = b->origin != DDP_ORIGIN_NONE;

    if (a_found != b_found)
        return a_found;
    if (a->mini_batch != b->mini_batch)
        return a->mini_batch < b->mini_batch;
    return a->origin < b->origin;
}

static void pick(ddp_not_finite *what, const struct finding *all, int size, const network *net)
{
    int first = 0;

    for (int r = 1; r < size; r++)
        if (is_earlier(&all[r], &all[first]))
            first = r;
    what->rank = first;
    what->origin = (ddp_origin)all[first].origin;
    what->layer = all[first].layer;
    what->kind = what->layer >= 0 ? get_layer_string(net->layers[what->layer].type) : "";
    what->mini_batch = all[first].mini_batch;
    what->sample = (size_t)all[first].sample;
    what->samples = (size_t)net->batch / (size_t)(net->time_steps > 0 ? net->time_steps : 1);
    for (int r = 0; r < size; r++)
        what->ranks_alike += !is_earlier(&all[first], &all[r]);
}

static ddp_status find(ddp_nan_guard *g, const network *net, ddp_not_finite *what, ddp_error *err)
{
    struct finding *all, mine;
    ddp_status st = DDP_OK;

    ddp_device_synchronize(g->table->device);
    mine = find_here(g, net, &st, err);
    what->step = g->step;
    all = st ? NULL : ddp_allgather_new(g->group, &mine, sizeof mine, err);
    if (!all)
        return err->code;
    pick(what, all, ddp_group_size(g->group), net);
    free(all);
    return DDP_OK;
}

/* ---- what has arrived ---- */

/* A rank that is alone sums nothing; its updates, which read each gradient, have looked. Where a
 * step may be dropped that is too late. */
static int updates_look(const ddp_nan_guard *g)
{
    return ddp_group_size(g->group) == 1 && ddp_device_is_host(g->table->device)
           && !ddp_nan_guard_may_skip(g);
}

static int gradients_are_broken(const ddp_nan_guard *g, const network *net, ddp_not_finite *what)
{
    const ddp_bucket *bucket;
    size_t b;

    if (updates_look(g)) {
        what->first_layer = what->last_layer = g->updated_layer;
        return !ddp_bits_are_finite(net->gradients_seen);
    }
    if (ddp_reducer_finite(g->reducer, &b))
        return 0;
    bucket = &ddp_reducer_plan(g->reducer)->buckets[b];
    what->first_layer = bucket->first_layer;
    what->last_layer = bucket->last_layer;
    return 1;
}

/* Returns 1 and says what, if something that has arrived is not finite. */
static int is_broken(const ddp_nan_guard *g, const network *net, ddp_not_finite *what)
{
    if (gradients_are_broken(g, net, what))
        what->broken = DDP_BROKEN_GRADIENTS;
    else if (!ddp_loss_finite(g->loss))
        what->broken = DDP_BROKEN_LOSS;
    else if (!ddp_batchnorm_stats_finite(g->statistics))
        what->broken = DDP_BROKEN_STATISTICS;
    else
        return 0;
    return 1;
}

static void end(const ddp_nan_guard *g, const ddp_not_finite *what)
{
    if (g->config.end)
        g->config.end(what);
    abort();
}

void ddp_nan_guard_note_step(ddp_nan_guard *g)
{
    if (ddp_nan_guard_may_skip(g) && g->unnoted)
        g->broken |= !ddp_loss_finite(g->loss) || !ddp_batchnorm_stats_finite(g->statistics);
    g->unnoted = 0;
}

ddp_status ddp_nan_guard_check_arrived(ddp_nan_guard *g, network *net, ddp_error *err)
{
    ddp_not_finite what = {0};

    if (ddp_nan_guard_may_skip(g) || !is_broken(g, net, &what))
        return DDP_OK;
    if (find(g, net, &what, err))
        return err->code;
    end(g, &what);
    return DDP_OK;
}

static ddp_status wait_for_all(ddp_nan_guard *g, ddp_error *err)
{
    if (ddp_reducer_fence_all(g->reducer, err) || ddp_loss_finish(g->loss, err)
        || ddp_batchnorm_stats_fence(g->statistics, err) || ddp_group_synchronize(g->group, err))
        return err->code;
    if (ddp_group_size(g->group) == 1)
        ddp_device_synchronize(g->table->device);
    return DDP_OK;
}

ddp_status ddp_nan_guard_judge_step(ddp_nan_guard *g, network *net, int *skipped, ddp_error *err)
{
    ddp_not_finite what = {.broken = DDP_BROKEN_LOSS};

    *skipped = 0;
    if (wait_for_all(g, err))
        return err->code;
    g->unnoted = 0;
    if (!is_broken(g, net, &what) && !g->broken) {
        g->skipped_in_a_row = 0;
        return DDP_OK;
    }
    g->broken = 0;
    if (find(g, net, &what, err))
        return err->code;
    what.skipped_in_a_row = g->skipped_in_a_row;
    if (g->skipped_in_a_row == g->config.skip_most)
        end(g, &what);
    what.skipped_in_a_row = ++g->skipped_in_a_row;
    ddp_reducer_discard_step(g->reducer);
    if (ddp_batchnorm_stats_restore_values(g->statistics, err))
        return err->code;
    if (g->config.skipped)
        g->config.skipped(&what);
    *skipped = 1;
    return DDP_OK;
}
