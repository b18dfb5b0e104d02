#include "algorithms/local_sgd/averaging.h"

#include "base/plural.h"
#include "comm/work.h"

#include <stdlib.h>
#include <string.h>

/* An array that is averaged, and of what it is. */
struct average {
    ddp_work *sum;
    float *x;
    size_t count;
    int layer;
    int always; /* BatchNorm's statistics change where no gradient comes */
    const char *kind, *part, *name;
};

struct ddp_local_sgd {
    ddp_group *group;
    const ddp_param_table *table;
    ddp_local_sgd_config config;
    float *const *slow;
    /* all parameters, one after the other, when the period began; NULL without slow momentum */
    float *began;
    float *ran; /* per layer: in this period on this rank; then, on how many ranks */
    ddp_work *ran_sum;
    struct average *averages;
    size_t average_count;
    size_t updates;  /* of this period; 0: ranks are alike */
    double rate_sum; /* of these */
};

/* ---- when ---- */

int ddp_local_sgd_is_local_step(const ddp_local_sgd *l, size_t step)
{
    return l && step > (size_t)l->config.warmup;
}

int ddp_local_sgd_ends_period(const ddp_local_sgd *l, size_t step)
{
    return ddp_local_sgd_is_local_step(l, step)
           && ((step - (size_t)l->config.warmup) % (size_t)l->config.period == 0
               || step == l->config.last_step);
}

int ddp_local_sgd_in_sync(const ddp_local_sgd *l)
{
    return !l || l->updates == 0;
}

/* ---- opening ---- */

static ddp_status add_average(ddp_local_sgd *l, struct average average, ddp_error *err)
{
    struct average *new = &l->averages[l->average_count++];

    *new = average;
    return ddp_allreduce_open_on(&new->sum, l->group, l->table->device, new->x, new->count,
                                 DDP_WIRE_FP32, err);
}

static ddp_status add_param(ddp_local_sgd *l, const ddp_param *p, ddp_error *err)
{
    struct average average = {.x = p->value,
                              .count = p->count,
                              .layer = p->layer,
                              .kind = p->kind,
                              .part = p->part,
                              .name = "value"};

    if (add_average(l, average, err))
        return err->code;
    for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && p->optimizer.buffer[k]; k++) {
        average.x = p->optimizer.buffer[k];
        average.name = p->optimizer.name[k];
        if (add_average(l, average, err))
            return err->code;
    }
    return DDP_OK;
}

static ddp_status open_sums(ddp_local_sgd *l, ddp_error *err)
{
    const ddp_param_table *t = l->table;
    ddp_status st = ddp_allreduce_open(&l->ran_sum, l->group, l->ran, (size_t)t->layer_count, err);

    for (size_t i = 0; i < t->param_count && !st; i++)
        if (t->params[i].layer >= t->first_trained)
            st = add_param(l, &t->params[i], err);
    for (size_t i = 0; i < t->buffer_count && !st; i++)
        st = add_average(l,
                         (struct average){.x = *t->buffers[i].slot,
                                          .count = t->buffers[i].count,
                                          .layer = t->buffers[i].layer,
                                          .always = 1,
                                          .kind = t->buffers[i].kind,
                                          .part = t->buffers[i].part,
                                          .name = "value"},
                         err);
    return st;
}

static size_t elements(const ddp_param_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->param_count; i++)
        count += table->params[i].count;
    return count;
}

static ddp_status allocate(ddp_local_sgd *l, ddp_error *err)
{
    size_t most = l->table->param_count * (DDP_OPTIMIZER_BUFFERS + 1) + l->table->buffer_count;

    l->averages = calloc(most + 1, sizeof *l->averages);
    l->ran = calloc((size_t)l->table->layer_count + 1, sizeof *l->ran);
    if (!l->averages || !l->ran)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to average %zu arrays", most);
    if (!l->slow)
        return DDP_OK;
    if (ddp_device_alloc(l->table->device, &l->began, elements(l->table), err))
        return ddp_wrap(err, "parameters as a period began");
    return DDP_OK;
}

ddp_status ddp_local_sgd_open(ddp_local_sgd **out, ddp_group *group, const ddp_param_table *table,
                              const ddp_local_sgd_config *config, float *const *slow,
                              ddp_error *err)
{
    ddp_local_sgd *l = calloc(1, sizeof *l);

    *out = NULL;
    if (!l)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for local SGD");
    l->group = group;
    l->table = table;
    l->config = *config;
    l->slow = config->slow_momentum >= 0 ? slow : NULL;
    if (allocate(l, err) || open_sums(l, err)) {
        ddp_local_sgd_close(l);
        return err->code;
    }
    *out = l;
    return DDP_OK;
}

void ddp_local_sgd_close(ddp_local_sgd *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->average_count; i++)
        ddp_work_close(l->averages[i].sum);
    ddp_work_close(l->ran_sum);
    ddp_device_free(l->table->device, l->began);
    free(l->averages);
    free(l->ran);
    free(l);
}

size_t ddp_local_sgd_bytes(const ddp_local_sgd *l)
{
    size_t count = (size_t)l->table->layer_count;

    for (size_t i = 0; i < l->average_count; i++)
        count += l->averages[i].count;
    return count * sizeof(float);
}

/* ---- a period ---- */

static void remember_parameters(ddp_local_sgd *l)
{
    size_t at = 0;

    for (size_t i = 0; i < l->table->param_count; i++) {
        const ddp_param *p = &l->table->params[i];

        ddp_device_copy(l->table->device, l->began + at, p->value, p->count);
        at += p->count;
    }
}

void ddp_local_sgd_begin_update(ddp_local_sgd *l, double rate)
{
    if (l->updates++ == 0 && l->slow)
        remember_parameters(l);
    l->rate_sum += rate;
}

void ddp_local_sgd_note_layer(ddp_local_sgd *l, int layer)
{
    l->ran[layer] = 1;
}

/* ---- its end ---- */

static ddp_status name_average(const struct average *a, ddp_error *err)
{
    return ddp_wrap(err, "average of layer %d (%s) %s, %s", a->layer, a->kind, a->part, a->name);
}

static int takes_part(const ddp_local_sgd *l, const struct average *a)
{
    return a->always || l->ran[a->layer] > 0;
}

static ddp_status sum_all(ddp_local_sgd *l, ddp_error *err)
{
    for (size_t i = 0; i < l->average_count; i++) {
        const struct average *a = &l->averages[i];

        if (takes_part(l, a) && ddp_work_start(a->sum, err))
            return name_average(a, err);
    }
    for (size_t i = 0; i < l->average_count; i++) {
        const struct average *a = &l->averages[i];

        if (takes_part(l, a) && ddp_work_wait(a->sum, err))
            return name_average(a, err);
    }
    if (ddp_group_size(l->group) == 1) /* nobody waited */
        ddp_device_synchronize(l->table->device);
    return DDP_OK;
}

/* Fail if a mean is not finite. All ranks have the same means, so all fail together. */
static ddp_status check_finite(const ddp_local_sgd *l, ddp_error *err)
{
    for (size_t i = 0; i < l->average_count; i++) {
        const struct average *a = &l->averages[i];

        if (takes_part(l, a) && !ddp_work_finite(a->sum))
            return ddp_fail(err, DDP_ERR_FORMAT,
                            "layer %d (%s) %s, %s, is not finite on some rank after %zu step%s of "
                            "its own",
                            a->layer, a->kind, a->part, a->name, l->updates,
                            ddp_plural(l->updates));
    }
    return DDP_OK;
}

static void divide(const ddp_local_sgd *l)
{
    int size = ddp_group_size(l->group);

    for (size_t i = 0; i < l->average_count; i++) {
        const struct average *a = &l->averages[i];

        if (takes_part(l, a) && size > 1)
            ddp_device_scale(l->table->device, a->x, 1.0 / size, a->count);
    }
}

/* Make the slow step of one parameter, whose value is the mean. */
static void step_slowly(const ddp_local_sgd *l, const ddp_param *p, float *u, float *x0)
{
    ddp_device *device = l->table->device;
    double rate = l->rate_sum / (double)l->updates;
    float *x = p->value;

    ddp_device_compose(device, x, -1, x0, p->count);
    ddp_device_scale(device, x, 1 / rate, p->count);
    ddp_device_compose(device, u, l->config.slow_momentum, x, p->count);
    ddp_device_copy(device, x, u, p->count);
    ddp_device_compose(device, x, -l->config.slow_rate * rate, x0, p->count);
}

static void step_all_slowly(const ddp_local_sgd *l)
{
    size_t at = 0;

    if (!l->slow || l->rate_sum <= 0)
        return;
    for (size_t i = 0; i < l->table->param_count; i++) {
        const ddp_param *p = &l->table->params[i];

        if (p->layer >= l->table->first_trained && l->ran[p->layer] > 0)
            step_slowly(l, p, l->slow[i], l->began + at);
        at += p->count;
    }
}

ddp_status ddp_local_sgd_average_ranks(ddp_local_sgd *l, ddp_error *err)
{
    if (ddp_local_sgd_in_sync(l))
        return DDP_OK;
    if (ddp_work_start(l->ran_sum, err) || ddp_work_wait(l->ran_sum, err))
        return ddp_wrap(err, "which layers ran");
    if (sum_all(l, err) || check_finite(l, err))
        return err->code;
    divide(l);
    step_all_slowly(l);
    memset(l->ran, 0, (size_t)l->table->layer_count * sizeof *l->ran);
    l->updates = 0;
    l->rate_sum = 0;
    return DDP_OK;
}
