/* Asks trainer/nan_guard.h, at the right moments of a step, whether loss, gradients and BatchNorm
 * statistics are finite. If they are not, the run ends, or the step's update is skipped. */
#include "trainer/trainer_state.h"

void ddp_trainer_check_arrived(ddp_trainer *t)
{
    ddp_error err;

    ddp_trainer_check(t, ddp_nan_guard_check_arrived(&t->guard, t->net, &err), &err);
}

void ddp_trainer_keep_statistics(ddp_trainer *t, const ddp_train_position *before)
{
    ddp_error err;

    t->update_begins = before->since_update == 0;
    if (t->update_begins && (ddp_nan_guard_may_skip(&t->guard) || t->config.bad_data))
        ddp_trainer_check(t, ddp_batchnorm_stats_keep_values(t->statistics, &err), &err);
}

void ddp_trainer_end_mini_batch(ddp_trainer *t, const ddp_train_position *now)
{
    ddp_error err;

    t->verdict = DDP_STEP_NOT_JUDGED;
    ddp_trainer_check(t,
                      ddp_nan_guard_end_mini_batch(&t->guard, t->net, t->update_begins,
                                                   now->mini_batch + 1, &err),
                      &err);
}

int ddp_trainer_is_step_skipped(ddp_trainer *t)
{
    int skipped;
    ddp_error err;

    if (ddp_nan_guard_may_skip(&t->guard) && t->verdict == DDP_STEP_NOT_JUDGED) {
        ddp_trainer_check(t, ddp_nan_guard_judge_step(&t->guard, t->net, &skipped, &err), &err);
        t->verdict = skipped ? DDP_STEP_SKIPPED : DDP_STEP_UPDATES;
    }
    return t->verdict == DDP_STEP_SKIPPED;
}
