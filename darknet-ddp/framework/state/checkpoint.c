/* Makes a checkpoint of a network (ddp_checkpoint_of_network), and loads one
 * (ddp_checkpoint_resume). The weights file is as Darknet writes it. The state file beside it has
 * the optimizer's moments of each parameter, and the algorithms' state (state/kept.c). It repeats
 * parameters and statistics only if the weights file might not give them back. */
#include "state/checkpoint.h"

#include "base/file.h"
#include "base/is_finite.h"
#include "glue/param_table.h"
#include "glue/train_position.h"
#include "state/compare_run.h"
#include "state/kept.h"

#include <darknet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the arrays of a state file ---- */

/* The contents of a list of arrays: its values, and where its moments are. */
struct kinds {
    int values; /* where the weights file would not do */
    int shared; /* moments that updates change lie on other ranks (core/sharded.h): they are listed
                   without data, by the key parameter * DDP_OPTIMIZER_BUFFERS + moment */
};

/* Return the array of the k-th moment of the table's i-th parameter. */
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

        list[at++] = (ddp_checkpoint_array){p->layer, p->part,  ddp_checkpoint_value_name,
                                            p->count, p->value, 0};
    }
    for (size_t i = 0; i < table->buffer_count; i++) {
        const ddp_buffer *b = &table->buffers[i];

        list[at++] = (ddp_checkpoint_array){b->layer, b->part,  ddp_checkpoint_value_name,
                                            b->count, *b->slot, 0};
    }
    return at;
}

/* The arrays of a state file, in its order. *list is the caller's to free, the names in it too, and
 * NULL on failure; what it points to is the table's and the state's. */
static ddp_status list_arrays(ddp_checkpoint_array **list, size_t *count,
                              const ddp_param_table *table, const ddp_state *state,
                              struct kinds kinds, ddp_error *err)
{
    size_t names = ddp_kept_name_count(state);
    size_t most = table->param_count * (DDP_OPTIMIZER_BUFFERS + 1 + names) + table->buffer_count;

    *count = 0;
    *list = calloc(1, (most + 1) * sizeof **list + names * DDP_KEPT_NAME);
    if (!*list)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to list %zu arrays", most);
    for (size_t i = 0; i < table->param_count; i++) {
        const ddp_param *p = &table->params[i];

        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && p->optimizer.buffer[k]; k++)
            (*list)[(*count)++] = moment(table, i, k, kinds.shared);
        *count = ddp_kept_add_moments(*list, *count, p, i, state);
    }
    if (kinds.values)
        *count = add_values(*list, *count, table);
    *count = ddp_kept_add_rest(*list, *count, table, state,
                               (char(*)[DDP_KEPT_NAME])(void *)(*list + most + 1));
    return DDP_OK;
}

/* ---- there ---- */

/* Would load_weights give back what write_weights wrote? Layers that are not saved, or
 * loaded in part, shift or lose what is in the file. */
static int weights_file_is_whole(const network *net, int cutoff)
{
    for (int i = 0; i < net->n; i++) {
        const layer *l = &net->layers[i];

        if (l->dontsave || l->dontload || l->dontloadscales || l->numload || l->flipped)
            return 0;
    }
    return cutoff >= net->n;
}

static ddp_checkpoint_metadata metadata_of(const ddp_checkpoint_run *run, network *net,
                                           const ddp_param_table *table)
{
    uint64_t seen = *net->seen;
    ddp_checkpoint_metadata metadata = {
        .saved_at_ns = run->saved_at_ns,
        .step = ddp_train_position_of(net).learnt_step,
        .seen = seen,
        .t = (uint64_t)*net->t,
        .seed = run->seed,
        .epoch = run->list_count ? seen / run->list_count : 0,
        .position = run->list_count ? seen % run->list_count : 0,
        .list_count = run->list_count,
        .list_hash = run->list_hash,
        .width = (uint64_t)net->w,
        .height = (uint64_t)net->h,
        .ranks = run->ranks,
        .average_loss = net->average_loss,
        .values_hash = ddp_param_table_hash(table),
        .option_count = run->option_count,
    };

    memcpy(metadata.options, run->options, sizeof metadata.options);
    ddp_checkpoint_set_base(&metadata, run->base);
    return metadata;
}

/* Nothing is written that no run can go on from. */
static ddp_status check_finite(const ddp_checkpoint *c, const ddp_param_table *table,
                               ddp_error *err)
{
    if (ddp_param_table_check_finite(table, err))
        return err->code;
    if (!ddp_all_finite(&c->metadata.average_loss, 1))
        return ddp_fail(err, DDP_ERR_FORMAT, "the average loss is not finite");
    return ddp_checkpoint_check_finite(c, err);
}

ddp_status ddp_checkpoint_of_network(ddp_checkpoint *c, ddp_param_table *table, network *net,
                                     int cutoff, const ddp_checkpoint_run *run, ddp_error *err)
{
    const struct kinds kinds = {.values = !weights_file_is_whole(net, cutoff),
                                .shared = run->sharded != NULL};

    *c = (ddp_checkpoint){.cfg = run->cfg, .cfg_bytes = run->cfg_bytes, .guard = run->guard};
    if (ddp_param_table_init(table, net, ddp_device_host(), err)
        || ddp_param_table_pull(table, net, run->device, err))
        return err->code;
    c->metadata = metadata_of(run, net, table);
    if (list_arrays(&c->arrays, &c->array_count, table, run->state, kinds, err))
        return err->code;
    return check_finite(c, table, err);
}

ddp_status ddp_checkpoint_matches(const ddp_checkpoint_metadata *m, network *net,
                                  const ddp_checkpoint_run *run, int *same, ddp_error *err)
{
    ddp_param_table table = {0};
    ddp_status st = DDP_OK;

    *same = 0;
    if (m->seen != *net->seen || m->t != (uint64_t)*net->t)
        return DDP_OK;
    if (ddp_param_table_init(&table, net, ddp_device_host(), err)
        || ddp_param_table_pull(&table, net, run->device, err))
        st = err->code;
    else
        *same = m->values_hash == ddp_param_table_hash(&table);
    ddp_param_table_release(&table);
    return st;
}

/* ---- back ---- */

static int has(const ddp_checkpoint *c, const char *name)
{
    for (size_t i = 0; i < c->array_count; i++)
        if (strcmp(c->arrays[i].name, name) == 0)
            return 1;
    return 0;
}

/* Nothing goes on from another network. */
static ddp_status refuse_network(const ddp_pair *pair, ddp_error *err)
{
    ddp_error found = *err;

    return ddp_fail(
        err, DDP_ERR_USAGE,
        "cannot resume from %s: %s; a run that begins anew sets the earlier one's files aside",
        pair->weights, found.text);
}

/* A network's own arrays, and those of a pair that are to become theirs. */
struct matched {
    ddp_param_table table;
    ddp_checkpoint_array *arrays;
    size_t count;
    ddp_checkpoint own; /* the pair's checkpoint, with the network's own arrays alone */
};

/* Release it in any case. */
static ddp_status match(struct matched *m, network *net, const ddp_checkpoint_run *run,
                        const ddp_pair *pair, ddp_error *err)
{
    const struct kinds kinds = {.values = has(&pair->checkpoint, ddp_checkpoint_value_name),
                                .shared = run->shares};

    *m = (struct matched){0};
    if (ddp_param_table_init(&m->table, net, ddp_device_host(), err)
        || list_arrays(&m->arrays, &m->count, &m->table, NULL, kinds, err)
        || ddp_checkpoint_without_state(&m->own, &pair->checkpoint, &m->table, err))
        return err->code;
    return ddp_checkpoint_check_arrays(&m->own, m->arrays, m->count, err)
               ? refuse_network(pair, err)
               : DDP_OK;
}

static void release_matched(struct matched *m)
{
    free(m->arrays);
    free(m->own.arrays);
    ddp_param_table_release(&m->table);
}

static ddp_status load(network *net, const struct matched *m, const ddp_pair *pair, ddp_error *err)
{
    const ddp_checkpoint *c = &pair->checkpoint;

    if (c->metadata.t > INT_MAX)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s.state: t is %" PRIu64 ", more than Darknet counts",
                        pair->weights, c->metadata.t);
    if (!has(c, ddp_checkpoint_value_name))
        load_weights(net, pair->weights);
    if (ddp_checkpoint_copy_arrays(&m->own, m->arrays, m->count, err))
        return ddp_wrap(err, "%s.state", pair->weights);
    *net->seen = (size_t)c->metadata.seen;
    *net->t = (int)c->metadata.t;
    net->average_loss = c->metadata.average_loss;
    if (ddp_param_table_hash(&m->table) != c->metadata.values_hash)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s did not give back the parameters that were saved",
                        pair->weights);
    return DDP_OK;
}

/* out gets the pair's checkpoint where moments are to be shared out. */
static ddp_status load_into(ddp_resumed *out, network *net, const ddp_checkpoint_run *run,
                            ddp_pair *pair, const struct matched *m, ddp_error *err)
{
    ddp_status st = DDP_OK;

    if (run->state
        && ddp_checkpoint_load_state(&pair->checkpoint, &m->table, run->state, run->force, err))
        st = ddp_wrap(err, "cannot resume from %s", pair->weights);
    if (!st)
        st = load(net, m, pair, err);
    if (!st)
        st = ddp_param_table_push(&m->table, net, run->device, err);
    out->metadata = pair->checkpoint.metadata;
    if (!st && run->shares)
        st = ddp_saved_moments_open(&out->moments, &pair->checkpoint, &m->table, err);
    return st;
}

/* Load the weights that the pair names, and take them off it. */
static ddp_status take_weights_alone(ddp_resumed *out, network *net, ddp_pair *pair,
                                     const ddp_checkpoint_run *run, ddp_error *err)
{
    ddp_param_table table;
    ddp_status st = ddp_param_table_init(&table, net, ddp_device_host(), err);

    if (st)
        return st;
    load_weights(net, pair->weights);
    st = ddp_param_table_push(&table, net, run->device, err);
    ddp_param_table_release(&table);
    if (st)
        return st;
    out->weights_alone = 1;
    out->metadata.step = ddp_train_position_of(net).learnt_step;
    out->metadata.seen = *net->seen;
    return DDP_OK;
}

static ddp_status go_on(ddp_resumed *out, network *net, ddp_pair *pair,
                        const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                        ddp_error *err)
{
    struct matched matched;
    ddp_status st = match(&matched, net, run, pair, err);

    if (!st)
        st = ddp_compare_run(pair, run, listener, err);
    if (!st)
        st = load_into(out, net, run, pair, &matched, err);
    release_matched(&matched);
    return st;
}

/* Do what the table says of what is there. */
static ddp_status start(ddp_resumed *out, network *net, ddp_pair *pair,
                        const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                        ddp_error *err)
{
    char **weights = &out->weights;
    ddp_status st = DDP_OK;

    switch (ddp_start_of(pair->there, run->force)) {
    case DDP_START_GOES_ON:
        st = go_on(out, net, pair, run, listener, err);
        break;
    case DDP_START_WEIGHTS_ALONE:
        st = take_weights_alone(out, net, pair, run, err);
        break;
    case DDP_START_REFUSED:
        *err = pair->why;
        weights = &out->refused_weights;
        break;
    default: /* it begins anew */
        return DDP_OK;
    }
    if (st)
        return st;
    *weights = pair->weights;
    pair->weights = NULL;
    return weights == &out->refused_weights ? err->code : DDP_OK;
}

ddp_status ddp_checkpoint_resume(ddp_resumed *out, network *net, const char *directory,
                                 const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                                 ddp_error *err)
{
    ddp_pair pair;
    ddp_status st = ddp_pair_find(&pair, directory, run->base, listener, err);

    if (pair.there == DDP_THERE_BARE && run->first_weights
        && ddp_file_is_same(run->first_weights, pair.weights))
        pair.there = DDP_THERE_FIRST;
    *out = (ddp_resumed){.there = pair.there, .passed_over = pair.passed_over};
    if (!st)
        st = start(out, net, &pair, run, listener, err);
    ddp_pair_release(&pair);
    return st;
}

static void say_nothing(void *ctx, const char *sentence)
{
    (void)ctx;
    (void)sentence;
}

static const ddp_pair_listener mute = {.note = say_nothing};

/* Release the pair in any case. */
static int find_quietly(ddp_pair *pair, const char *directory, const ddp_checkpoint_run *run)
{
    ddp_error ignored;

    return !ddp_pair_find(pair, directory, run->base, &mute, &ignored)
           && pair->there == DDP_THERE_WHOLE;
}

ddp_status ddp_checkpoint_check_resume(const char *directory, const ddp_checkpoint_run *run,
                                       ddp_error *err)
{
    ddp_pair pair;
    ddp_status st = DDP_OK;

    if (find_quietly(&pair, directory, run))
        st = ddp_compare_run(&pair, run, &mute, err);
    ddp_pair_release(&pair);
    return st;
}

void ddp_resumed_release(ddp_resumed *r)
{
    free(r->weights);
    free(r->refused_weights);
    ddp_saved_moments_close(r->moments);
    *r = (ddp_resumed){0};
}
