#include "run/session.h"

#include "base/file.h"
#include "comm/collectives.h"
#include "glue/cfg.h"
#include "inputs/list.h"
#include "inputs/same_cfg.h"
#include "launch/resume_command.h"
#include "launch/signals.h"
#include "launch/supervisor.h"
#include "run/banner.h"
#include "run/best.h"
#include "run/losses.h"
#include "run/memory.h"
#include "run/state.h"
#include "run/trace.h"
#include "run/watchdog.h"
#include "saves/disk_use.h"
#include "saves/done_marker.h"
#include "show/guides.h"
#include "show/rank_output.h"
#include "show/run_log.h"

#include <stdlib.h>
#include <string.h>

static int input_width, input_height;
static ddp_train_position began;
static network *trained;

/* By whose formulas the network is trained, and what in the cfg decides that. */
static void print_mathematics(const network *net)
{
    char room[PATH_MAX];
    const char *why = ddp_network_why_v4(net);

    if (why)
        printf("DDP: mathematics of YOLOv4's Darknet (%s; more: %s/cfg.md)\n", why,
               ddp_guides_folder(room));
    else
        printf("DDP: mathematics of YOLOv3's Darknet\n");
}

/* Print how a detector's pictures are prepared, since tests at another aspect prepare theirs
 * otherwise. Print also which sizes random=1 draws, if the cfg's own is not among them. */
static void print_pictures(const network *net)
{
    char text[DDP_NETWORK_TEXT], misfit[DDP_NETWORK_TEXT];

    if (ddp_network_describe_pictures(net, text))
        printf("DDP: pictures are %s\n", text);
    if (ddp_network_untrained_size(net, misfit))
        printf("DDP: %s\n", misfit);
}

/* Print that the last batches end without an update, if -ddp_sync_every does not divide the number
 * of batches. */
static void print_length(const ddp_train_position *now)
{
    if (now->last_step % (size_t)ddp_run.options->sync_every)
        printf("DDP: max_batches=%zu is not a multiple of -ddp_sync_every %d: the last batches end "
               "without an update\n",
               now->last_step, ddp_run.options->sync_every);
}

/* Print that nothing is left to train: the run that was resumed, or the first weights, have seen
 * all batches. */
static void print_finished(const ddp_train_position *now)
{
    char *further;

    printf("DDP: nothing left to train: batch %zu of max_batches=%zu is done", now->step,
           now->last_step);
    if (ddp_checkpoints_origin(ddp_run.checkpoints)->resumed) {
        further = ddp_command_to_train_further(
            ddp_launched(ddp_run.launcher),
            ddp_overrides_more_epochs(&ddp_run.overrides, ddp_run.options->epochs, now->step),
            ddp_run.cfg_path);
        printf("; %s trains further\n", further ? further : "-resume_force");
        free(further);
    } else {
        printf(", as %s counts; -clear counts from 0\n",
               ddp_run.command.weights ? ddp_run.command.weights : "the network");
    }
}

static void print_not_used(const char *word, const char *checkpoint)
{
    printf("DDP: %s is not used, since the run goes on from %s\n", word, checkpoint);
}

/* Print what becomes of the weights and of -clear on the command line, and of the batches that the
 * weights count. */
static void print_first_weights(const ddp_train_position *now)
{
    const char *given = ddp_run.command.weights, *from = ddp_checkpoints_last(ddp_run.checkpoints);

    if (given && from && !ddp_file_is_same(given, from))
        print_not_used(given, from);
    if (ddp_run.command.clear && ddp_checkpoints_origin(ddp_run.checkpoints)->resumed)
        print_not_used("-clear", from);
    if (given && !from && now->step > 0 && !ddp_run.is_finished)
        printf("DDP: begins at batch %zu, image %zu, as %s counts; -clear counts from 0\n",
               now->step, now->images, given);
}

/* Print a line about each option that has no effect here, with the run's own names. */
static void print_foreign_options(const char *cfg)
{
    static const char place[] = "backup/NAME";
    const ddp_foreign_options_taken *ignored = ddp_run.command.ignored;
    char *base = ddp_cfg_base(cfg);

    for (int i = 0; i < ignored->count; i++) {
        const char *text = ignored->all[i].sentence, *at = strstr(text, place);

        if (at)
            printf("DDP: %s: %.*s%s/%s%s\n", ignored->all[i].word, (int)(at - text), text,
                   ddp_run.directory, base, at + strlen(place));
        else
            printf("DDP: %s: %s\n", ignored->all[i].word, text);
    }
    free(base);
}

static ddp_status reads(const char *what, const char *path, ddp_error *err)
{
    return ddp_data_files_add(&ddp_run.inputs, what, path, err);
}

/* Return lines for the page that say what the run is, and what tells of its labels. Free them. */
static char *describe(const char *cfg)
{
    char *text = NULL, *base;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    base = ddp_cfg_base(cfg);
    ddp_banner_print(out, ddp_run.group, &ddp_run.gpus, ddp_run.trainer, ddp_run.options,
                     ddp_run.seed);
    ddp_overrides_print(out, "DDP: ", &ddp_run.overrides);
    if (ddp_run.is_detector && ddp_run.command.data && base)
        (void)fprintf(
            out, "labels most likely wrong: `darknet ddp suspects %s/%s` makes %s.suspects.html\n",
            ddp_run.directory, base, base);
    (void)fclose(out);
    free(base);
    return text;
}

/* On rank 0: figures of other pictures are no measure. */
static void print_other_validation(const ddp_train_position *now)
{
    size_t since = ddp_checkpoints_origin(ddp_run.checkpoints)->valid_since;

    if (ddp_run.validation && since > 0 && since == now->step)
        printf("DDP: valid= lists other pictures than before, they have other labels, or -points "
               "or -best is another: the figures of the first %zu batches count no more\n",
               since);
}

/* Return 1 if the run was resumed and lacks the validation of the step that it goes on from. */
static int is_validation_missing(void)
{
    const ddp_run_origin *origin = ddp_checkpoints_origin(ddp_run.checkpoints);

    return ddp_run.validation && origin->resumed && !origin->validated;
}

/* Open the run's files. What they know of earlier validations all ranks learn. */
static ddp_status open_records(const network *net, const ddp_train_position *now, const char *cfg,
                               ddp_error *err)
{
    int64_t communication_ns = ddp_trainer_communication_ns(ddp_run.trainer);
    const ddp_run_origin *origin = ddp_checkpoints_origin(ddp_run.checkpoints);
    ddp_head_layers heads = ddp_network_heads(net);
    int writes = ddp_run.options->records && (!ddp_run.is_finished || is_validation_missing());
    char *banner = describe(cfg), *command = ddp_command_line();
    ddp_run_files_config config = {.directory = ddp_run.directory,
                                   .cfg = cfg,
                                   .data = ddp_run.command.data,
                                   .tensorboard = ddp_run.options->tensorboard,
                                   .banner = banner ? banner : "",
                                   .command = command ? command : "",
                                   .resumed = origin->resumed || ddp_supervisor_restarted(),
                                   .best = ddp_run.options->best,
                                   .start = *now,
                                   .origin = origin,
                                   .trainer = ddp_run.trainer,
                                   .validation = ddp_run.validation,
                                   .waits = &ddp_run.waits,
                                   .heads = &heads};
    ddp_status st = ddp_wait_shares_init(&ddp_run.waits, ddp_run.group, communication_ns, err);

    if (!writes)
        ddp_run_log_drop();
    if (!st && ddp_group_rank(ddp_run.group) == 0 && writes)
        st = ddp_run_files_open(&ddp_run.records, &config, err);
    free(banner);
    free(command);
    if (!st && ddp_run.records) {
        print_other_validation(now);
        ddp_best_follow_file();
    }
    return st ? st : ddp_validation_share_best(ddp_run.validation, err);
}

/* Prepare the sentence on how to go on, for a run that ends before its time. */
static void prepare_advice(void)
{
    const ddp_resume_how how = {.option = "-resume"};
    char *command = ddp_resume_command(ddp_launched(ddp_run.launcher), how);
    char where[4096];

    (void)snprintf(where, sizeof where, "the last checkpoint in %s", ddp_run.directory);
    ddp_run.advice = ddp_resume_advice(command, where);
    free(command);
}

/* Print the lines that describe the run. On rank 0. */
static void print_run(const network *net, const ddp_train_position *now, const char *cfg)
{
    print_first_weights(now);
    if (ddp_run.is_finished) {
        if (!ddp_run.list)
            print_finished(now);
        return; /* else once the list is known to be that of the run that goes on */
    }
    ddp_banner_print(stdout, ddp_run.group, &ddp_run.gpus, ddp_run.trainer, ddp_run.options,
                     ddp_run.seed);
    ddp_overrides_print(stdout, "DDP: ", &ddp_run.overrides);
    print_mathematics(net);
    print_pictures(net);
    ddp_memory_print();
    print_length(now);
    print_foreign_options(cfg);
}

/* The one place where it is decided whether this run begins: all ranks end here if any was asked to
 * by now, and nothing of an earlier run has been touched. A run that is asked later saves first. */
static ddp_status commit(ddp_error *err)
{
    int own = ddp_signals_number(), number = 0;
    int *all = ddp_allgather_new(ddp_run.group, &own, sizeof own, err);

    if (!all)
        return err->code;
    for (int i = 0; i < ddp_group_size(ddp_run.group); i++)
        number = all[i] > number ? all[i] : number;
    free(all);
    if (number)
        ddp_session_end_untrained(number);
    if (ddp_run.launcher.rank == 0)
        ddp_report_notify_launcher(DDP_NOTE_COMMITS);
    return DDP_OK;
}

static ddp_disk_use disk_use(void)
{
    const ddp_state *state = ddp_algorithm_set_state(ddp_trainer_algorithms(ddp_run.trainer));

    return ddp_disk_use_of(ddp_trainer_table(ddp_run.trainer), state,
                           ddp_group_size(ddp_run.group));
}

/* On rank 0: is there room for one pair of weights and state? */
static ddp_status check_room(ddp_error *err)
{
    const ddp_disk_use use = disk_use();
    ddp_status st = ddp_disk_check_room(&use, ddp_run.directory, err);

    if (!st || ddp_run.options->on_save_error != DDP_SAVE_ERROR_CONTINUE)
        return st;
    printf("DDP: %s\n", err->text);
    return DDP_OK;
}

/* On rank 0: say what the run takes on the disk. list_count: pictures of an epoch. */
static void print_disk_use(size_t list_count)
{
    const ddp_disk_use use = disk_use();
    size_t last = began.last_step, batch = (size_t)ddp_trainer_batch(ddp_run.trainer).batch;
    ddp_disk_files files = {.pairs = ddp_run.validation ? 4 : 2,
                            .keep = (size_t)ddp_run.options->keep,
                            .averages = (size_t)ddp_network_saves_average(trained)};

    if (ddp_group_rank(ddp_run.group) != 0 || last == 0 || list_count == 0)
        return;
    files.numbered =
        ddp_run.is_detector ? ddp_disk_numbered_of_detector(last) : last * batch / list_count;
    ddp_disk_print(&use, &files, ddp_run.directory);
}

static ddp_status attached(network *net, const ddp_train_position *now, const char *cfg,
                           ddp_error *err)
{
    ddp_disk_use checkpoint = disk_use();
    ddp_progress_now start;

    if (ddp_run.is_detector && now->last_step == 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s: [net] has no max_batches=, which says how many batches to train", cfg);
    ddp_checkpoints_attached(ddp_run.checkpoints);
    if (ddp_same_cfg(ddp_run.group, cfg, err)
        || ddp_data_files_agree(&ddp_run.inputs, ddp_run.group, err)
        || ddp_session_agree_on_weights(err))
        return err->code;
    ddp_run.is_finished = now->last_step > 0 && now->step >= now->last_step;
    if (!ddp_run.is_finished && ddp_memory_check(net, checkpoint.weights + checkpoint.state, err))
        return err->code;
    if (!ddp_run.is_finished && ddp_group_rank(ddp_run.group) == 0 && check_room(err))
        return err->code;
    prepare_advice();
    ddp_watchdog_begin(ddp_run.directory, cfg,
                       ddp_reducer_plan(ddp_trainer_reducer(ddp_run.trainer)));
    ddp_signals_save_and_end(ddp_launched(ddp_run.launcher));
    if (commit(err) || ddp_checkpoints_begin(ddp_run.checkpoints, net, ddp_run.is_finished, err))
        return err->code;
    if (ddp_run.launcher.rank == 0 && ddp_checkpoints_origin(ddp_run.checkpoints)->resumed)
        ddp_report_notify_launcher(DDP_NOTE_SAVED);
    if (ddp_run.launcher.rank == 0)
        ddp_report_notify_launcher(DDP_NOTE_TRAINS); /* only now: a restart finds its own files */
    if (ddp_group_rank(ddp_run.group) == 0) {
        print_run(net, now, cfg);
        ddp_done_marker_open(ddp_run.directory, cfg);
    }
    ddp_rank_output_show_errors();
    if (open_records(net, now, cfg, err)
        || ddp_trace_run_open(ddp_run.options, ddp_run.group, ddp_run.trainer, now, err)
        || ddp_trace_run_step(net, now, err))
        return err->code;
    began = *now;
    trained = net;
    start = ddp_session_progress(now);
    ddp_step_line_begin(&start);
    ddp_network_input_size(net, &input_width, &input_height);
    return DDP_OK;
}

static ddp_status check_list(char *const *paths, int n, ddp_error *err)
{
    ddp_list list;

    if (ddp_list_agree(&list, ddp_run.group, paths, n, err)
        || (!ddp_run.list && ddp_list_check_pictures(ddp_run.group, paths, (size_t)n, NULL, err))
        || ddp_same_data_agree(ddp_run.group, ddp_run.label_kind, paths, (size_t)n, err))
        return err->code;
    ddp_run_files_list(ddp_run.records, (size_t)n);
    if (!ddp_run.is_finished || is_validation_missing())
        ddp_validation_plan(ddp_run.validation, (size_t)n,
                            (size_t)ddp_trainer_batch(ddp_run.trainer).batch, input_width,
                            input_height);
    if (ddp_checkpoints_check_list(ddp_run.checkpoints, list, err))
        return err->code;
    if (ddp_checkpoints_origin(ddp_run.checkpoints)->resumed) /* and would be once more */
        ddp_session_advise();
    if (!ddp_run.is_finished) {
        ddp_losses_resume(paths, (size_t)n);
        ddp_done_marker_begin();
        print_disk_use((size_t)n);
    } else if (ddp_run.list && ddp_group_rank(ddp_run.group) == 0)
        print_finished(&began);
    return ddp_session_validate_missed(trained, &began, err);
}

static ddp_status labelled(char *has, int n, ddp_error *err)
{
    return ddp_checkpoints_labelled(ddp_run.checkpoints, has, (size_t)n, err);
}

void ddp_session_begin_callbacks(ddp_plugin_callbacks *callbacks)
{
    callbacks->attached = attached;
    callbacks->reads = reads;
    callbacks->check_list = check_list;
    callbacks->labelled = labelled;
}
