#include "run/state.h"

#include "base/clock.h"
#include "run/session.h"
#include "show/rank_output.h"

struct ddp_run ddp_run;

void ddp_session_fail(const ddp_error *err)
{
    ddp_run_files_end(ddp_run.records, "failed");
    ddp_rank_output_failure(err);
}

ddp_progress_now ddp_session_progress(const ddp_train_position *now)
{
    return (ddp_progress_now){
        .now_ns = ddp_clock_ns(),
        .communication_ns = ddp_trainer_communication_ns(ddp_run.trainer),
        .loading_ns = ddp_trainer_total_times(ddp_run.trainer).outside_ns,
        .images = now->images,
        .step = now->step,
        .last_step = now->last_step,
    };
}

void ddp_session_advise(void)
{
    ddp_report_set_resume_hint(ddp_run.advice);
}

void ddp_session_advise_if_saved(void)
{
    size_t saved = 0;

    if (ddp_run.checkpoints)
        (void)ddp_checkpoints_saved(ddp_run.checkpoints, &saved);
    if (saved > 0)
        ddp_session_advise();
}
