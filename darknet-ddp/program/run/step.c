#include "run/session.h"

#include "base/clock.h"
#include "base/plural.h"
#include "run/best.h"
#include "run/state.h"
#include "run/trace.h"
#include "saves/done_marker.h"
#include "show/rank_output.h"

static const double a_day_s = 86400;
static const int64_t ask_every_ns = 2000000000;

static struct {
    int64_t ended_ns;     /* the last one */
    int grace_is_short;   /* it was said */
    int validation_waits; /* for ranks to be alike */
    int64_t asked_ns;     /* how long ranks wait; 0: not yet */
} stepping;

static int64_t communication_now(void)
{
    return ddp_trainer_communication_ns(ddp_run.trainer);
}

void ddp_session_show_line(const ddp_train_position *position, const char *line)
{
    ddp_progress_now now = ddp_session_progress(position);

    ddp_step_line_show(&now, line, ddp_validation_last(ddp_run.validation));
}

/* All ranks come here in the same step. */
static void end_early(int validations)
{
    const char *name;
    double figure;
    size_t step;

    (void)ddp_validation_best(ddp_run.validation, &name, &figure, &step);
    if (ddp_group_rank(ddp_run.group) == 0)
        printf("DDP: %d validation%s not better than %s %.4f after step %zu: the run ends "
               "(-patience)\n",
               validations, validations == 1 ? " was" : "s were", name, figure, step);
    ddp_run.out_of_patience = validations;
    ddp_plugin_stop();
}

/* The verdict on a validation. */
struct judged {
    size_t earlier_step; /* of the best before; 0: there was none */
    int best, stop;
};

static ddp_status validate(struct judged *j, network *net, const ddp_train_position *now,
                           ddp_error *err)
{
    const ddp_validation_listener listener = {ddp_run_files_found, ddp_run.records,
                                              ddp_report_print};
    int64_t began = ddp_clock_ns(), communication_ns = communication_now();
    const char *name;
    double figure;

    if (ddp_validation_measure(ddp_run.validation, net, &listener, err))
        return err->code;
    if (ddp_group_rank(ddp_run.group) == 0)
        ddp_best_follow_file();
    if (ddp_validation_share_best(ddp_run.validation, err))
        return err->code;
    if (!ddp_validation_best(ddp_run.validation, &name, &figure, &j->earlier_step))
        j->earlier_step = 0;
    j->best = ddp_validation_judge(ddp_run.validation, now, &j->stop);
    ddp_step_line_pause(ddp_clock_ns() - began, communication_now() - communication_ns);
    return DDP_OK;
}

/* After the row that has the figures: weights without it would be of an unknown worth. */
static ddp_status save_validated(const struct judged *j, network *net, ddp_error *err)
{
    ddp_plugin_save(net, "_last.weights");
    if (j->best && ddp_group_rank(ddp_run.group) == 0
        && ddp_best_keep_earlier(j->earlier_step, err))
        return err->code;
    if (j->best)
        ddp_plugin_save(net, "_best.weights");
    if (j->stop)
        end_early(j->stop);
    return DDP_OK;
}

/* A validation has failed. Where it was for files that cannot be read, which all ranks know, the
 * step that it follows is not lost with it. */
static ddp_status end_unvalidated(network *net, const ddp_train_position *now, ddp_error *err)
{
    char what[sizeof err->text + 64];

    if (err->code != DDP_ERR_FORMAT)
        return err->code;
    (void)snprintf(what, sizeof what, "validation after step %zu: %s", now->step, err->text);
    ddp_plugin_end_unreadable(net, what, "which leaves them out");
}

/* Warn once where -ddp_grace, the time between SIGTERM and SIGKILL, is shorter than a step and a
 * save. The first step is left out: it also waits for pictures. */
static void check_grace(const ddp_train_position *now)
{
    int64_t ended_ns = ddp_clock_ns();
    double step_s = (double)(ended_ns - stepping.ended_ns) / 1e9;
    double save_s = ddp_checkpoints_seconds(ddp_run.checkpoints);
    double grace_s = ddp_run.options->grace;
    size_t steps = ddp_trainer_steps_to_sync(ddp_run.trainer); /* a save waits for that */
    char more[64] = "";

    if (stepping.ended_ns > 0 && grace_s > 0 && step_s * (double)steps + save_s > grace_s
        && !stepping.grace_is_short && ddp_group_rank(ddp_run.group) == 0) {
        stepping.grace_is_short = 1;
        if (steps > 1)
            (void)snprintf(more, sizeof more, ", with up to %zu such steps before one", steps);
        printf(
            "DDP: step %zu took %.1f s and the last save %.1f s%s, more than -ddp_grace %g: when "
            "a signal ends the run, its last steps may be lost\n",
            now->step, step_s, save_s, more, grace_s);
    }
    stepping.ended_ns = ended_ns;
}

/* Write the options of the command line that decide how long a step takes, to be repeated in a line
 * of `darknet ddp cfg`. */
static void describe_step(char *out, size_t size)
{
    const ddp_options *o = ddp_run.options;
    const struct {
        const char *option;
        int value; /* 0: not given */
    } given[] = {{"-ddp_ranks", o->ranks},
                 {"-batch", o->cfg_batch},
                 {"-subdivisions", o->subdivisions},
                 {"-width", o->net_width},
                 {"-height", o->net_height}};
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof given / sizeof given[0] && used < size; i++)
        if (given[i].value > 0)
            used += (size_t)snprintf(out + used, size - used, " %s %d", given[i].option,
                                     given[i].value);
}

/* Whoever tries a cfg of thousands of batches on a few cores learns of it now, and not tomorrow. */
static void say_if_long(const ddp_train_position *now, double step_s)
{
    double remaining_s = step_s * (double)(now->last_step - now->step);
    char left[32], step[128];

    if (now->last_step <= now->step || remaining_s < a_day_s || !ddp_run.command.data)
        return;
    ddp_duration(remaining_s, left, sizeof left);
    describe_step(step, sizeof step);
    printf("DDP: at %.3g s a step this run takes %s more; in a day fit %.0f of max_batches=%zu: "
           "`darknet ddp cfg %s -data %s -hours 24%s -o NEW.cfg` measures a step and writes a cfg "
           "that ends in a day\n",
           step_s, left, a_day_s / step_s, now->last_step, ddp_run.command.cfg,
           ddp_run.command.data, step);
}

/* Where ranks differ, what is due is done when they are in sync again; between updates of several
 * batches, after the next one. */
static int is_validation_due(const ddp_train_position *now)
{
    int due = stepping.validation_waits || ddp_validation_due(ddp_run.validation, now);
    int is_between = !now->update_ends && now->step != now->last_step;

    stepping.validation_waits = due && (is_between || !ddp_trainer_in_sync(ddp_run.trainer));
    return due && !stepping.validation_waits;
}

/* A rank that computes much slower than the others, for its host is busy or its processor slow. */
static void name_straggler(void)
{
    char text[512];
    double share;
    int rank;

    if (!ddp_wait_shares_straggler(&ddp_run.waits, &rank, &share)
        || ddp_group_rank(ddp_run.group) != 0)
        return;
    (void)snprintf(text, sizeof text,
                   "rank %d on %s holds the others up: they wait for it %.0f%% of their time", rank,
                   ddp_group_host(ddp_run.group, rank), 100 * share);
    ddp_report_print(text);
}

ddp_status ddp_session_validate_missed(network *net, const ddp_train_position *now, ddp_error *err)
{
    const ddp_run_origin *origin = ddp_checkpoints_origin(ddp_run.checkpoints);
    struct judged judged;

    if (!origin->resumed || origin->validated || !ddp_validation_due(ddp_run.validation, now))
        return DDP_OK;
    if (ddp_group_rank(ddp_run.group) == 0)
        printf("DDP: no weights of a validation after step %zu are there: it comes now\n",
               now->step);
    if (validate(&judged, net, now, err))
        return end_unvalidated(net, now, err);
    ddp_run_files_add_missed(ddp_run.records, now, ddp_validation_last(ddp_run.validation));
    return save_validated(&judged, net, err);
}

/* Rank 0 asks from time to time how long each rank waits. */
static void ask_for_waits(void)
{
    int64_t now_ns = ddp_clock_ns();

    if (ddp_group_rank(ddp_run.group) != 0
        || (stepping.asked_ns > 0 && now_ns - stepping.asked_ns < ask_every_ns))
        return;
    ddp_run.asked[DDP_REQUEST_WAITS] = stepping.asked_ns > 0;
    stepping.asked_ns = now_ns;
}

static ddp_status step_ended(network *net, const ddp_train_position *now,
                             const ddp_figures *figures, ddp_error *err)
{
    int due = is_validation_due(now);
    struct judged judged;
    int64_t began_ns = ddp_clock_ns();

    if (++ddp_run.steps == 2 && ddp_group_rank(ddp_run.group) == 0)
        say_if_long(now, (double)(began_ns - stepping.ended_ns) / 1e9);
    check_grace(now);
    ddp_done_marker_begin(); /* of commands that read no list */
    if (ddp_checkpoints_poll(ddp_run.checkpoints, 0, err))
        return err->code;
    ddp_session_advise_if_saved();
    ddp_run_files_step(ddp_run.records, now, figures);
    if (due && validate(&judged, net, now, err)) {
        ddp_run_files_add(ddp_run.records, NULL);
        return end_unvalidated(net, now, err);
    }
    if (due)
        ddp_trace_run_add(began_ns, "validation");
    ddp_run_files_add(ddp_run.records, due ? ddp_validation_last(ddp_run.validation) : NULL);
    ask_for_waits();
    if (due && save_validated(&judged, net, err))
        return err->code;
    if (ddp_trace_run_step(net, now, err))
        return err->code;
    if (!ddp_trainer_requested(ddp_run.trainer).waits)
        return DDP_OK;
    if (ddp_wait_shares_gather(&ddp_run.waits, communication_now(), err))
        return err->code;
    name_straggler();
    return DDP_OK;
}

void ddp_session_step_callbacks(ddp_plugin_callbacks *callbacks)
{
    callbacks->step_ended = step_ended;
}
