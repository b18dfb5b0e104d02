/* Resuming: the newest pair is found, compared with the run (check_run) and loaded (load_into). */
#include "state/checkpoint.h"

#include "checkpoint/cfg_compare.h"
#include "glue/param_table.h"
#include "glue/train_position.h"
#include "state/arrays.h"
#include "state/kept.h"

#include <darknet.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

static int has(const ddp_checkpoint *c, const char *name)
{
    for (size_t i = 0; i < c->array_count; i++)
        if (strcmp(c->arrays[i].name, name) == 0)
            return 1;
    return 0;
}

/* Of one pair, for who resumes from it. */
struct judging {
    const ddp_pair *pair;
    const ddp_checkpoint_run *run;
    const ddp_pair_listener *listener;
};

static void say_of_pair(const struct judging *j, const char *before, const char *what,
                        const char *after)
{
    char sentence[sizeof((ddp_error *)0)->text + PATH_MAX + 64];

    (void)snprintf(sentence, sizeof sentence, "%s: %s%s%s", j->pair->weights, before, what, after);
    j->listener->note(j->listener->ctx, sentence);
}

static void say_difference(void *ctx, const char *what)
{
    say_of_pair(ctx, "resumed all the same: ", what, "");
}

/* A difference is an error or, with force, news. */
static ddp_status judge(const struct judging *j, ddp_status st, ddp_error *err)
{
    if (st == DDP_ERR_MISMATCH && j->run->force) {
        say_difference((void *)j, err->text);
        return DDP_OK;
    }
    if (st == DDP_ERR_MISMATCH)
        return ddp_wrap(err, "cannot resume from %s", j->pair->weights);
    return st;
}

static int is_known(const ddp_checkpoint_metadata *metadata, const char *name)
{
    for (size_t i = 0; i < metadata->option_count; i++)
        if (strcmp(metadata->options[i].name, name) == 0)
            return 1;
    return 0;
}

/* What the checkpoint does not know is no difference, unless the run says what was before: a CPU
 * has fewer of these options than a GPU, and older state files have none. */
static ddp_status check_rounding(const struct judging *j, ddp_error *err)
{
    const ddp_checkpoint_metadata *was = &j->pair->checkpoint.metadata;
    const ddp_checkpoint_run *run = j->run;

    for (size_t i = run->option_count - run->rounding_count; i < run->option_count; i++) {
        const ddp_checkpoint_option *option = &run->options[i];
        ddp_status st = DDP_OK;

        if (is_known(was, option->name))
            st = ddp_checkpoint_check_options(was, option, 1, NULL, err);
        else if (run->before[i])
            st = ddp_fail(err, DDP_ERR_MISMATCH, "%s was %s, is now %s", option->name,
                          run->before[i], option->value);
        if (st == DDP_ERR_MISMATCH && !run->same_rounding)
            say_of_pair(j, "", err->text, ": from here on results round differently");
        else if (judge(j, st, err))
            return err->code;
    }
    return DDP_OK;
}

/* A state file of before there was an option, or before it was remembered, says nothing of it: not
 * to go on would be for nothing that is known to differ. */
static void say_unknown(const struct judging *j, const ddp_checkpoint_option *option)
{
    char text[2 * sizeof option->value];

    (void)snprintf(text, sizeof text, "%s was not known, is now %s", option->name, option->value);
    say_of_pair(j, "", text, "");
}

/* One by one: with force, each that differs is news. */
static ddp_status check_options(const struct judging *j, ddp_error *err)
{
    const ddp_checkpoint_metadata *was = &j->pair->checkpoint.metadata;
    const ddp_checkpoint_run *run = j->run;

    for (size_t i = 0; i < run->option_count - run->rounding_count; i++) {
        const ddp_checkpoint_option *option = &run->options[i];

        if (is_known(was, option->name)) {
            if (judge(j, ddp_checkpoint_check_options(was, option, 1, NULL, err), err))
                return err->code;
        } else if (!run->is_default[i]) {
            say_unknown(j, option);
        }
    }
    if (!run->seed_given)
        return DDP_OK;
    return judge(j, ddp_checkpoint_check_options(was, NULL, 0, &run->seed, err), err);
}

static ddp_status check_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
                            const ddp_pair_listener *listener, ddp_error *err)
{
    struct judging j = {.pair = pair, .run = run, .listener = listener};
    const ddp_checkpoint *c = &pair->checkpoint;
    ddp_status st = ddp_cfg_compare(c->cfg, c->cfg_bytes, run->cfg, run->cfg_bytes,
                                    run->force ? say_difference : NULL, &j, err);

    if (judge(&j, st, err) || check_options(&j, err))
        return err->code;
    return check_rounding(&j, err);
}

/* own: the pair's checkpoint, with the network's own arrays alone. */
static ddp_status load(network *net, const ddp_param_table *table, const ddp_pair *pair,
                       const ddp_checkpoint *own, const ddp_checkpoint_array *arrays, size_t count,
                       ddp_error *err)
{
    const ddp_checkpoint *c = &pair->checkpoint;

    if (c->metadata.t > INT_MAX)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s.state: t is %" PRIu64 ", more than Darknet counts",
                        pair->weights, c->metadata.t);
    if (ddp_checkpoint_check_arrays(own, arrays, count, err))
        return ddp_wrap(err, "cannot resume from %s", pair->weights);
    if (!has(c, ddp_checkpoint_value_name))
        load_weights(net, pair->weights);
    if (ddp_checkpoint_copy_arrays(own, arrays, count, err))
        return ddp_wrap(err, "%s.state", pair->weights);
    *net->seen = (size_t)c->metadata.seen;
    *net->t = (int)c->metadata.t;
    net->average_loss = c->metadata.average_loss;
    if (ddp_param_table_hash(table) != c->metadata.values_hash)
        return ddp_fail(err, DDP_ERR_FORMAT, "%s did not give back the parameters that were saved",
                        pair->weights);
    return DDP_OK;
}

/* out gets the pair's checkpoint where moments are to be shared out. */
static ddp_status load_into(ddp_resumed *out, network *net, const ddp_checkpoint_run *run,
                            ddp_pair *pair, ddp_error *err)
{
    const ddp_checkpoint_kinds kinds = {.values = has(&pair->checkpoint, ddp_checkpoint_value_name),
                                        .shared = run->shares};
    ddp_checkpoint_array *arrays = NULL;
    ddp_checkpoint own = {0};
    size_t count;
    ddp_param_table table;
    ddp_status st = ddp_param_table_init(&table, net, ddp_device_host(), err);

    if (st)
        return st;
    st = ddp_checkpoint_list(&arrays, &count, &table, NULL, kinds, err);
    if (!st)
        st = ddp_checkpoint_without_state(&own, &pair->checkpoint, &table, err);
    if (!st && run->state
        && ddp_checkpoint_load_state(&pair->checkpoint, &table, run->state, run->force, err))
        st = ddp_wrap(err, "cannot resume from %s", pair->weights);
    if (!st)
        st = load(net, &table, pair, &own, arrays, count, err);
    if (!st)
        st = ddp_param_table_push(&table, net, run->device, err);
    out->metadata = pair->checkpoint.metadata;
    if (!st && run->shares)
        st = ddp_saved_moments_open(&out->moments, &pair->checkpoint, &table, err);
    free(arrays);
    free(own.arrays);
    ddp_param_table_release(&table);
    return st;
}

/* No state is left. Who has asked for that is told what is lost. */
static ddp_status take_weights_alone(ddp_resumed *out, network *net, ddp_pair *pair,
                                     const ddp_checkpoint_run *run, ddp_error *err)
{
    ddp_param_table table;
    ddp_status st = ddp_param_table_init(&table, net, ddp_device_host(), err);

    if (st)
        return st;
    load_weights(net, pair->damaged);
    st = ddp_param_table_push(&table, net, run->device, err);
    ddp_param_table_release(&table);
    if (st)
        return st;
    out->alone = 1;
    out->metadata.step = ddp_train_position_of(net).learnt_step;
    out->metadata.seen = *net->seen;
    out->weights = pair->damaged;
    pair->damaged = NULL;
    return DDP_OK;
}

ddp_status ddp_checkpoint_resume(ddp_resumed *out, network *net, const char *directory,
                                 const ddp_checkpoint_run *run, const ddp_pair_listener *listener,
                                 ddp_error *err)
{
    ddp_pair pair;
    ddp_status st;

    *out = (ddp_resumed){0};
    st = ddp_pair_find(&pair, directory, run->base, listener, err);
    if (st && pair.damaged && run->force)
        st = take_weights_alone(out, net, &pair, run, err);
    else if (st) {
        out->damaged = pair.damaged;
        pair.damaged = NULL;
    }
    if (st || !pair.weights) {
        ddp_pair_release(&pair);
        return st;
    }
    st = check_run(&pair, run, listener, err);
    if (!st)
        st = load_into(out, net, run, &pair, err);
    if (!st) {
        out->weights = pair.weights;
        pair.weights = NULL;
    }
    ddp_pair_release(&pair);
    return st;
}

void ddp_resumed_release(ddp_resumed *r)
{
    free(r->weights);
    free(r->damaged);
    ddp_saved_moments_close(r->moments);
    *r = (ddp_resumed){0};
}
