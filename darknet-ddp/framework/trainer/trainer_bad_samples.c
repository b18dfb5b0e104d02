/* Ends a run at samples that cannot be read, before a step learns from what was loaded in their
 * place. With -ddp_on_bad_data skip N a sample that cannot be read is replaced by another line's,
 * and counted. It ends the run here only if none could be read in its place.
 *
 * When a step begins, all its samples are loaded, so each rank knows how many of them must end the
 * run. The counts are summed over ranks during the step's first forward pass, and waited for before
 * its first backward pass. Until then the step has changed only net->seen and BatchNorm's
 * statistics, of which a copy was kept when the update began. */
#include "comm/work.h"
#include "trainer/trainer_state.h"

#include "base/clock.h"

void ddp_trainer_sum_bad_samples(ddp_trainer *t, const network *net,
                                 const ddp_train_position *before)
{
    ddp_error err;

    if (!t->bad.sum || before->begun > 0)
        return;
    t->bad.step = before->step + 1;
    t->bad.images_at_update = before->images - before->since_update;
    t->bad.samples = (float)ddp_bad_samples_count_ending(
        t->config.bad_data, before->images + (size_t)net->batch * (size_t)net->subdivisions);
    t->bad.started = 1;
    ddp_trainer_check(t, ddp_work_start(t->bad.sum, &err), &err);
}

void ddp_trainer_finish_bad_samples(ddp_trainer *t)
{
    int64_t start = ddp_clock_ns();
    ddp_error err;

    if (!t->bad.started)
        return;
    t->bad.started = 0;
    ddp_watch_wait(t->config.reducer.watch, -1);
    ddp_trainer_check(t, ddp_work_wait(t->bad.sum, &err), &err);
    t->waited_ns += ddp_clock_ns() - start;
}

/* To the last whole update, so many images after the start: what was seen since then was not. */
static void go_back(ddp_trainer *t, size_t images)
{
    ddp_error err;

    ddp_trainer_check(t, ddp_batchnorm_stats_restore_values(t->statistics, &err), &err);
    *t->net->seen = images;
}

void ddp_trainer_end_at_bad_samples(ddp_trainer *t, network *net)
{
    if (!t->bad.started)
        return;
    ddp_trainer_finish_bad_samples(t);
    if (t->bad.samples <= 0)
        return;
    go_back(t, t->bad.images_at_update);
    t->config.unreadable(net, t->bad.step, (size_t)t->bad.samples);
}

void ddp_trainer_rollback(ddp_trainer *t)
{
    ddp_train_position now = ddp_train_position_of(t->net);

    if (now.since_update > 0)
        go_back(t, now.images - now.since_update);
}

void ddp_trainer_send_bad_samples(ddp_trainer *t, const ddp_train_position *now)
{
    if (t->config.bad_data)
        ddp_loss_send_count(t->loss, DDP_COUNT_REPLACED,
                            ddp_bad_samples_take_replaced(t->config.bad_data, now->images));
}
