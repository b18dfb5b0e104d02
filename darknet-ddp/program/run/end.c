#include "run/session.h"

#include "base/plural.h"
#include "comm/collectives.h"
#include "launch/signals.h"
#include "launch/supervisor.h"
#include "run/bad_samples.h"
#include "run/best.h"
#include "run/state.h"
#include "run/summary.h"
#include "run/trace.h"
#include "run/watchdog.h"
#include "saves/displaced.h"
#include "saves/done_marker.h"
#include "saves/run_lock.h"
#include "show/rank_output.h"

#include <unistd.h>

/* Wait until all is saved. Returns the exit status. */
static int judge_saves(void)
{
    const char *last;
    char of_step[40] = "";
    ddp_error err;
    size_t step;

    ddp_watch_phase(ddp_run.watch, DDP_PHASE_SAVING);
    if (ddp_checkpoints_poll(ddp_run.checkpoints, 1, &err))
        ddp_session_fail(&err);
    ddp_session_advise_if_saved();
    if (ddp_run.checkpoints && ddp_group_rank(ddp_run.group) == 0)
        ddp_best_follow_file();
    if (!ddp_checkpoints_last_failed(ddp_run.checkpoints))
        return 0;
    last = ddp_checkpoints_last(ddp_run.checkpoints);
    step = last ? ddp_displaced_step(last) : 0;
    if (step > 0 && step < SIZE_MAX)
        (void)snprintf(of_step, sizeof of_step, ", of step %zu", step);
    (void)fprintf(stderr, "darknet: the last save failed; %s%s%s\n",
                  last ? "the last good weights are " : "no weights were saved before",
                  last ? last : "", of_step);
    return 1;
}

/* Print the samples that were not read. On every rank. */
static void summarise_unreadable(void)
{
    size_t samples = ddp_plugin_replaced();
    ddp_error err;

    if (samples == 0)
        return;
    if (ddp_group_rank(ddp_run.group) == 0)
        printf("DDP: %zu sample%s had others in their place, since these cannot be read:\n",
               samples, ddp_plural(samples));
    if (ddp_bad_samples_print(ddp_run.group, ddp_run.bad_data, &err))
        ddp_session_fail(&err);
}

static void summarise(int stopped)
{
    int validations = ddp_run.out_of_patience;
    const ddp_summary summary = {
        .checkpoints = ddp_run.checkpoints,
        .validation = ddp_run.validation,
        .directory = ddp_run.directory,
        .records = ddp_run_files_paths(ddp_run.records),
        .launched = ddp_launched(ddp_run.launcher),
        .stopped = stopped,
        .more_patience = validations > 0 ? validations + ddp_run.options->patience : 0,
        .epochs = ddp_overrides_more_epochs(&ddp_run.overrides, ddp_run.options->epochs, 0),
        .cfg = ddp_run.cfg_path,
        .data = ddp_run.is_detector ? ddp_run.command.data : NULL};

    if (!ddp_run.checkpoints || ddp_group_rank(ddp_run.group) != 0)
        return;
    ddp_summary_print(&summary);
    ddp_algorithm_set_print_end(ddp_trainer_algorithms(ddp_run.trainer), stdout, ddp_run.steps);
}

/* Finish the run's saves and records and print its summary, after its last step or a stop. Returns
 * the exit status. */
static int conclude(int stopped)
{
    int status = judge_saves();
    ddp_error err;

    ddp_run_files_bring_back(ddp_run.records);
    if (ddp_trace_run_close(&err))
        ddp_session_fail(&err);
    summarise_unreadable();
    summarise(stopped);
    ddp_run_files_end(ddp_run.records, stopped ? "stopped" : "ended");
    ddp_run_files_close(ddp_run.records);
    ddp_run.records = NULL; /* a failure that comes now would end them again */
    if (!status && (!stopped || ddp_run.out_of_patience))
        ddp_done_marker_write(); /* last: whoever waits for it finds the records whole */
    return status;
}

/* Leave the group: every rank has come to its end of the run. */
static void part(int status)
{
    ddp_watchdog_close();
    ddp_run_lock_give_back();
    ddp_rank_output_done(status);
    ddp_group_close(ddp_run.group);
}

/* Loaders may still be at work. */
static void leave_with(int status) __attribute__((noreturn));

static void leave_with(int status)
{
    ddp_error err;

    if (ddp_barrier(ddp_run.group, &err))
        ddp_session_fail(&err);
    ddp_rank_output_close();
    ddp_watchdog_forget_plan();
    ddp_trainer_close(ddp_run.trainer);
    part(status);
    (void)fflush(NULL);
    _exit(status);
}

static void leave(void) __attribute__((noreturn));

static void leave(void)
{
    leave_with(conclude(1));
}

void ddp_session_end_untrained(int number)
{
    if (ddp_run.launcher.rank == 0 && ddp_supervisor_is_ours())
        ddp_report_notify_launcher(DDP_NOTE_UNTRAINED); /* which says it */
    else if (ddp_group_rank(ddp_run.group) == 0)
        ddp_signals_say(ddp_signals_ends_untrained);
    leave_with(128 + number);
}

/* All ranks have said what they could not read. */
static void end_unreadable(const char *what, const char *instead, int learnt)
    __attribute__((noreturn));

static void end_unreadable(const char *what, const char *instead, int learnt)
{
    char or_skip[128] = "";
    const char *last;
    ddp_error err;

    (void)judge_saves();
    if (ddp_barrier(ddp_run.group, &err))
        ddp_session_fail(&err);
    last = ddp_checkpoints_last(ddp_run.checkpoints);
    if (ddp_group_rank(ddp_run.group) != 0) { /* which knows of no weights, and speaks last */
        (void)ddp_fail(&err, DDP_ERR_IO, "%s", what);
        ddp_session_fail(&err);
    }
    if (instead)
        (void)snprintf(or_skip, sizeof or_skip, ", or resume with %s-ddp_on_bad_data skip N, %s",
                       ddp_run.options->on_bad_data > 0 ? "a larger " : "", instead);
    (void)ddp_fail(&err, DDP_ERR_IO, "%s; %s%.150s; mend them and resume%s", what,
                   last     ? "the last weights are "
                   : learnt ? "no weights were saved before"
                            : "nothing has been trained yet",
                   last ? last : "", or_skip);
    ddp_session_fail(&err);
}

void ddp_session_end_callbacks(ddp_plugin_callbacks *callbacks)
{
    callbacks->leave = leave;
    callbacks->unreadable = ddp_report_print; /* at once: what becomes of the run is not known */
    callbacks->end_unreadable = end_unreadable;
}

int ddp_session_close(void)
{
    int status = conclude(0);
    ddp_error err;

    ddp_plugin_close();
    ddp_wait_shares_release(&ddp_run.waits);
    ddp_watchdog_forget_plan();
    ddp_trainer_close(ddp_run.trainer);
    ddp_bad_samples_close(ddp_run.bad_data);
    ddp_checkpoints_close(ddp_run.checkpoints);
    ddp_data_files_release(&ddp_run.inputs);
    ddp_validation_close(ddp_run.validation);
    if (ddp_barrier(ddp_run.group, &err))
        ddp_session_fail(&err);
    part(status);
    ddp_gpus_release(&ddp_run.gpus);
    ddp_run.trainer = NULL;
    ddp_run.group = NULL;
    return status;
}
