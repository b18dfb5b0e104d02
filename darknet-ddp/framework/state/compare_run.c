#include "state/compare_run.h"

#include "checkpoint/cfg_compare.h"

#include <limits.h>
#include <string.h>

/* The comparison of a pair of files with the run that would resume from it. */
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

/* Compare the options that only change rounding. An option that the checkpoint does not know is no
 * difference, unless the run says what its value was before. A CPU has fewer of these options than
 * a GPU, and older state files have none. */
static ddp_status check_rounding(const struct judging *j, ddp_error *err)
{
    const ddp_checkpoint_metadata *was = &j->pair->checkpoint.metadata;
    const ddp_checkpoint_run *run = j->run;

    size_t end = run->option_count;

    for (size_t i = end - run->rounding_count; i < end; i++) {
        const ddp_checkpoint_option *option = &run->options[i];
        ddp_status st = DDP_OK;

        if (is_known(was, option->name))
            st = ddp_checkpoint_check_option(was, option, err);
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

    size_t end = run->option_count - run->rounding_count;

    for (size_t i = 0; i < end; i++) {
        const ddp_checkpoint_option *option = &run->options[i];

        if (is_known(was, option->name)) {
            if (judge(j, ddp_checkpoint_check_option(was, option, err), err))
                return err->code;
        } else if (!run->is_default[i]) {
            say_unknown(j, option);
        }
    }
    if (!run->seed_given)
        return DDP_OK;
    return judge(j, ddp_checkpoint_check_seed(was, run->seed, err), err);
}

ddp_status ddp_compare_run(const ddp_pair *pair, const ddp_checkpoint_run *run,
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
