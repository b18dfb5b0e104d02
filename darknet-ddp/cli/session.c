#include "cli/session.h"

#include "base/clock.h"
#include "base/text.h"
#include "cli/banner.h"
#include "cli/checkpoints.h"
#include "cli/compare.h"
#include "cli/contents.h"
#include "cli/inputs.h"
#include "cli/launcher.h"
#include "cli/list.h"
#include "cli/lookout.h"
#include "cli/not_finite.h"
#include "cli/ownership.h"
#include "cli/precheck.h"
#include "cli/records.h"
#include "cli/report.h"
#include "cli/resume_command.h"
#include "cli/screen.h"
#include "cli/signals.h"
#include "cli/steps.h"
#include "cli/summary.h"
#include "cli/trace.h"
#include "cli/unreadable.h"
#include "cli/validation.h"
#include "cli/waits.h"
#include "core/agree.h"
#include "glue/darknet.h"
#include "glue/plugin.h"
#include "glue/program.h"
#include "glue/weights_hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    const ddp_options *options;
    ddp_launcher launcher;
    ddp_group *group;
    ddp_gpus gpus;
    ddp_trainer *trainer;
    ddp_checkpoints *checkpoints;
    ddp_inputs inputs;
    uint64_t weights_hash; /* of the network as it was loaded */
    ddp_truth_files truth; /* of the pictures */
    ddp_bad_data *bad_data;
    ddp_validation *validation; /* NULL: none */
    ddp_records *records;       /* on rank 0; NULL: none */
    ddp_waits waits;
    int width, height;            /* of the cfg */
    const char *directory;        /* of the weights */
    char *advice;                 /* how to go on, once there is a checkpoint */
    int64_t ended_ns;             /* when the last step was */
    int grace_is_short;           /* it was said */
    ddp_watch *watch;             /* NULL: none */
    volatile sig_atomic_t *asked; /* of this rank, by signals */
    uint64_t seed;
} session;

void ddp_session_fail(const ddp_error *err)
{
    ddp_report_failure(err);
}

/* ---- what Darknet's train commands ask (glue/plugin.h) ---- */

static int64_t communication_now(void)
{
    return ddp_trainer_communication_ns(session.trainer);
}

static ddp_progress_now progress_now(const ddp_position *now)
{
    return (ddp_progress_now){
        .now_ns = ddp_clock_ns(),
        .communication_ns = communication_now(),
        .images = now->images,
        .step = now->step,
        .last_step = now->last_step,
    };
}

static ddp_status resume(network *net, const char *directory, const char *cfg, uint64_t *seed,
                         ddp_error *err)
{
    if (ddp_checkpoints_open(&session.checkpoints, session.options, session.group, &session.inputs,
                             directory, cfg, err)
        || ddp_weights_hash(&session.weights_hash, net, err)
        || ddp_checkpoints_resume(session.checkpoints, net, &session.seed, err))
        return err->code;
    *seed = session.seed;
    session.directory = directory;
    return DDP_OK;
}

/* By whose formulas, and what in the cfg decides it. */
static void print_mathematics(const network *net)
{
    const char *why;

    if (ddp_network_is_v4(net, &why))
        printf("DDP: mathematics of YOLOv4's Darknet (%s)\n", why);
    else
        printf("DDP: mathematics of YOLOv3's Darknet\n");
}

/* What a detector's pictures go through, which tests at another aspect would not. */
static void print_pictures(const network *net)
{
    char text[DDP_PICTURES_BYTES];

    if (ddp_network_pictures(net, text))
        printf("DDP: pictures are %s\n", text);
}

/* What the number of batches makes of this run, where that may surprise. */
static void print_length(const ddp_position *now)
{
    if (now->last_step % (size_t)session.options->sync_every)
        printf("DDP: max_batches=%zu is not a multiple of -ddp_sync_every %d: the last batches end "
               "without an update\n",
               now->last_step, session.options->sync_every);
    if (now->last_step > 0 && now->step >= now->last_step)
        printf("DDP: nothing left to train: batch %zu of max_batches=%zu is done; %s\n", now->step,
               now->last_step,
               ddp_checkpoints_resumed(session.checkpoints)
                   ? "with a larger one -resume_force goes on"
                   : "-clear counts from 0");
}

/* A rank may have loaded a file of its own. Where rank 0 has resumed, its are meant to differ. */
static ddp_status agree_on_weights(ddp_error *err)
{
    char text[64];

    if (ddp_checkpoints_resumed(session.checkpoints))
        return DDP_OK;
    (void)snprintf(text, sizeof text, "first weights: contents %016" PRIx64, session.weights_hash);
    return ddp_agree(session.group, text, err);
}

static ddp_status reads(const char *what, const char *path, ddp_error *err)
{
    return ddp_inputs_add(&session.inputs, what, path, err);
}

/* Lines that say what the run is. Free them. */
static char *describe(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    ddp_banner_print(out, session.group, &session.gpus, session.trainer, session.options,
                     session.seed);
    (void)fclose(out);
    return text;
}

/* What the files know of validations, all ranks learn. */
static ddp_status open_records(const network *net, const ddp_position *now, const char *cfg,
                               ddp_error *err)
{
    int64_t communication_ns = ddp_trainer_communication_ns(session.trainer);
    ddp_head_layers heads = ddp_network_heads(net);
    char *banner = describe(), *command = ddp_command_line();
    ddp_records_config config = {.directory = session.directory,
                                 .cfg = cfg,
                                 .tensorboard = session.options->tensorboard,
                                 .banner = banner ? banner : "",
                                 .command = command ? command : "",
                                 .resumed = ddp_checkpoints_resumed(session.checkpoints),
                                 .best = session.options->best,
                                 .start = *now,
                                 .trainer = session.trainer,
                                 .validation = session.validation,
                                 .waits = &session.waits,
                                 .heads = &heads};
    ddp_status st = ddp_waits_init(&session.waits, session.group, communication_ns, err);

    if (!session.options->records)
        ddp_screen_log(NULL, 0, NULL);
    if (!st && ddp_group_rank(session.group) == 0 && session.options->records)
        st = ddp_records_open(&session.records, &config, err);
    free(banner);
    free(command);
    return st ? st : ddp_validation_share(session.validation, err);
}

static void advise(void)
{
    ddp_report_advise(session.advice);
}

/* What is said where the run ends before its time. */
static void prepare_advice(void)
{
    char *command = ddp_resume_command(session.launcher.ranks > 0, "-resume");
    char where[4096];

    (void)snprintf(where, sizeof where, "the last checkpoint in %s", session.directory);
    session.advice = ddp_resume_advice(command, where);
    free(command);
    if (ddp_checkpoints_resumed(session.checkpoints))
        advise();
}

static ddp_status attached(network *net, const ddp_position *now, const char *cfg, ddp_error *err)
{
    ddp_progress_now start;

    if (ddp_checkpoints_share(session.checkpoints, ddp_trainer_table(session.trainer), err)
        || ddp_compare_cfgs(session.group, cfg, err)
        || ddp_inputs_agree(&session.inputs, session.group, err) || agree_on_weights(err))
        return err->code;
    prepare_advice();
    ddp_lookout_begin(session.directory, cfg,
                      ddp_reducer_plan(ddp_trainer_reducer(session.trainer)));
    ddp_signals_take_term(session.launcher.ranks > 0);
    if (session.launcher.rank == 0)
        ddp_report_tell(DDP_NOTE_TRAINS);
    ddp_checkpoints_begin(session.checkpoints, net);
    if (ddp_group_rank(session.group) == 0) {
        ddp_banner_print(stdout, session.group, &session.gpus, session.trainer, session.options,
                         session.seed);
        print_mathematics(net);
        print_pictures(net);
        print_length(now);
    }
    ddp_report_errors_only();
    if (open_records(net, now, cfg, err)
        || ddp_trace_run_open(session.options, session.group, session.trainer, now, err)
        || ddp_trace_run_step(net, now, err))
        return err->code;
    start = progress_now(now);
    ddp_steps_begin(&start);
    ddp_network_input(net, &session.width, &session.height);
    return DDP_OK;
}

static ddp_status check_list(char *const *paths, int n, ddp_error *err)
{
    ddp_list list;

    if (ddp_list_check(&list, session.group, paths, n, session.options->on_bad_data > 0, err)
        || ddp_contents_agree(session.group, session.truth, paths, (size_t)n, err))
        return err->code;
    ddp_records_list(session.records, (size_t)n);
    ddp_validation_begin(session.validation, (size_t)n,
                         (size_t)ddp_trainer_batch(session.trainer).batch, session.width,
                         session.height);
    return ddp_checkpoints_check_list(session.checkpoints, list, err);
}

/* On rank 0. */
static void show_line(const ddp_position *position, const char *line)
{
    ddp_progress_now now = progress_now(position);

    ddp_steps_show(&now, line, ddp_validation_last(session.validation));
}

/* All ranks come here in the same step. */
static void end_early(void)
{
    const char *name;
    double figure;
    size_t step;

    (void)ddp_validation_best(session.validation, &name, &figure, &step);
    if (ddp_group_rank(session.group) == 0)
        printf("DDP: %d validations in a row were no better than %s %.4f after step %zu: the run "
               "ends (-patience)\n",
               session.options->patience, name, figure, step);
    ddp_plugin_stop();
}

static ddp_status validate(network *net, const ddp_position *now, ddp_error *err)
{
    int64_t began = ddp_clock_ns(), communication_ns = communication_now();
    int best, stop;

    if (ddp_validation_run(session.validation, net, now, ddp_records_found, session.records, &best,
                           &stop, err))
        return err->code;
    ddp_steps_pause(ddp_clock_ns() - began, communication_now() - communication_ns);
    ddp_plugin_save(net, "_last.weights");
    if (best)
        ddp_plugin_save(net, "_best.weights");
    if (stop)
        end_early();
    return DDP_OK;
}

/* Whoever ends this run waits so long: is that enough? The first step also waits for pictures. */
static void check_grace(const ddp_position *now)
{
    int64_t ended_ns = ddp_clock_ns();
    double step_s = (double)(ended_ns - session.ended_ns) / 1e9;
    double save_s = ddp_checkpoints_seconds(session.checkpoints);
    double grace_s = session.options->grace;

    if (session.ended_ns > 0 && grace_s > 0 && step_s + save_s > grace_s && !session.grace_is_short
        && ddp_group_rank(session.group) == 0) {
        session.grace_is_short = 1;
        printf(
            "DDP: step %zu took %.1f s and the last save %.1f s, more than -ddp_grace %g: when a "
            "signal ends the run, its last steps may be lost\n",
            now->step, step_s, save_s, grace_s);
    }
    session.ended_ns = ended_ns;
}

static ddp_status step_ended(network *net, const ddp_position *now, const ddp_figures *figures,
                             ddp_error *err)
{
    int due = ddp_validation_due(session.validation, now);
    int64_t began_ns = ddp_clock_ns();

    check_grace(now);
    if (ddp_checkpoints_look(session.checkpoints, 0, err))
        return err->code;
    ddp_records_step(session.records, now, figures);
    if (due && validate(net, now, err))
        return err->code;
    if (due)
        ddp_trace_run_add(began_ns, "validation");
    if (ddp_records_add(session.records, due ? ddp_validation_last(session.validation) : NULL))
        session.asked[DDP_REQUEST_TELL] = 1;
    if (ddp_trace_run_step(net, now, err))
        return err->code;
    if (!ddp_trainer_requested(session.trainer).tell)
        return DDP_OK;
    return ddp_waits_gather(&session.waits, ddp_trainer_communication_ns(session.trainer), err);
}

static ddp_status save(network *net, const char *path, int cutoff, ddp_error *err)
{
    int64_t began_ns = ddp_clock_ns();
    ddp_status st;

    ddp_records_saving(session.records);
    st = ddp_checkpoints_save(session.checkpoints, net, path, cutoff, err);
    ddp_trace_run_add(began_ns, path);
    ddp_records_saved(session.records);
    if (!st)
        advise();
    return st;
}

/* Wait until all is saved. Returns the exit status. */
static int judge_saves(void)
{
    const char *last;
    ddp_error err;

    ddp_watch_phase(session.watch, DDP_PHASE_SAVING);
    if (ddp_checkpoints_look(session.checkpoints, 1, &err))
        ddp_session_fail(&err);
    if (!ddp_checkpoints_status(session.checkpoints))
        return 0;
    last = ddp_checkpoints_last(session.checkpoints);
    (void)fprintf(stderr, "darknet: the last save failed; %s%s\n",
                  last ? "the last good weights are " : "no weights were saved before",
                  last ? last : "");
    return 1;
}

/* All ranks come here. */
static void summarise_unreadable(void)
{
    size_t samples = ddp_plugin_replaced();
    ddp_error err;

    if (samples == 0)
        return;
    if (ddp_group_rank(session.group) == 0)
        printf("DDP: %zu sample%s had others in their place, since these cannot be read:\n",
               samples, ddp_plural(samples));
    if (ddp_unreadable_print(session.group, session.bad_data, &err))
        ddp_session_fail(&err);
}

static void summarise(int stopped)
{
    const ddp_summary summary = {.checkpoints = session.checkpoints,
                                 .validation = session.validation,
                                 .directory = session.directory,
                                 .records = ddp_records_paths(session.records),
                                 .launched = session.launcher.ranks > 0,
                                 .stopped = stopped};

    if (session.checkpoints && ddp_group_rank(session.group) == 0)
        ddp_summary_print(&summary);
}

static void leave(void) __attribute__((noreturn));

static void leave(void)
{
    int status = judge_saves();
    ddp_error err;

    if (ddp_trace_run_close(&err))
        ddp_session_fail(&err);
    summarise_unreadable();
    summarise(1);
    ddp_records_end(session.records, "stopped");
    ddp_records_close(session.records);
    if (ddp_barrier(session.group, &err))
        ddp_session_fail(&err);
    ddp_report_close();
    ddp_trainer_close(session.trainer);
    ddp_lookout_close();
    ddp_ownership_give_back();
    ddp_report_done(status);
    ddp_group_close(session.group);
    (void)fflush(NULL);
    _exit(status);
}

/* At once: it is not known yet what becomes of the run. */
static void say_unreadable(const char *sentence)
{
    ddp_report_say(sentence);
}

/* All ranks have said what they could not read. */
static void end_unreadable(size_t step, size_t samples, int saved) __attribute__((noreturn));

static void end_unreadable(size_t step, size_t samples, int saved)
{
    const char *last;
    ddp_error err;

    (void)judge_saves();
    if (ddp_barrier(session.group, &err))
        ddp_session_fail(&err);
    last = ddp_checkpoints_last(session.checkpoints);
    (void)ddp_fail(
        &err, DDP_ERR_IO,
        "step %zu: %zu sample%s cannot be read (see above)%s; %s%.150s; mend them and resume, or "
        "-ddp_on_bad_data skip N trains with others in their place",
        step + (saved && !session.options->on_bad_data), samples, ddp_plural(samples),
        session.options->on_bad_data ? ", more than are to be skipped" : "",
        last ? "the last weights are " : "no weights were saved before", last ? last : "");
    ddp_session_fail(&err);
}

static ddp_plugin_config plugin_config(const ddp_options *o)
{
    return (ddp_plugin_config){
        .group = session.group,
        .trainer = session.trainer,
        .watch = session.watch,
        .seed = session.seed,
        .replace = o->replace,
        .bad_data = session.bad_data,
        .skip_bad = o->on_bad_data,
        .fail = ddp_session_fail,
        .callbacks = {.resume = resume,
                      .attached = attached,
                      .reads = reads,
                      .check_list = check_list,
                      .step_ended = step_ended,
                      .save = save,
                      .leave = leave,
                      .unreadable = say_unreadable,
                      .end_unreadable = end_unreadable},
    };
}

/* ---- opening ---- */

/* Of a rank's own waits, which name the peer alone: the watch comes before it. */
static int64_t own_timeout_ns(const ddp_options *o)
{
    double longest = o->timeout > o->io_timeout ? o->timeout : o->io_timeout;

    return o->timeout > 0 && o->io_timeout > 0 ? (int64_t)((longest + 60) * 1e9) : 0;
}

/* Of host memory; sums of a GPU's may go another way. */
static const char *pick_backend(const ddp_options *options, ddp_launcher launcher)
{
    if (options->backend == DDP_BACKEND_MPI)
        return "mpi";
    return launcher.ranks > 0 && options->backend != DDP_BACKEND_SOLO ? "mpi" : "solo";
}

static ddp_status check_launch(ddp_launcher launcher, int size, ddp_error *err)
{
    if (launcher.ranks > 0 && launcher.ranks != size)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "the launcher started %d processes, but this one is in a group of %d: the "
                        "launcher and MPI do not know each other (srun may want --mpi=pmix)",
                        launcher.ranks, size);
    return DDP_OK;
}

static ddp_status agree(ddp_error *err)
{
    char text[2048];

    ddp_options_agreement(session.options, ddp_gpus_wanted(session.options), text, sizeof text);
    if (ddp_agree(session.group, text, err))
        return err->code;
    ddp_program_describe(text, sizeof text);
    if (ddp_agree(session.group, text, err))
        return err->code;
    session.seed = session.options->seed >= 0 ? (uint64_t)session.options->seed
                                              : (uint64_t)ddp_clock_ns() % 1000000000;
    return ddp_broadcast(session.group, &session.seed, sizeof session.seed, 0, err);
}

/* Where the bits are to be those of any other number of ranks, each must round alike. */
static ddp_status agree_on_devices(ddp_error *err)
{
    char text[512];

    if (!session.options->exact)
        return DDP_OK;
    ddp_program_describe_device(ddp_device_name(ddp_group_device(session.group)), text,
                                sizeof text);
    return ddp_agree(session.group, text, err);
}

static void dropped(const ddp_not_finite *what)
{
    ddp_not_finite_dropped(session.group, what);
}

static void not_finite(const ddp_not_finite *what) __attribute__((noreturn));

static void not_finite(const ddp_not_finite *what)
{
    ddp_error err;

    ddp_not_finite_error(session.group, what, ddp_checkpoints_last(session.checkpoints), &err);
    ddp_session_fail(&err);
}

static ddp_trainer_config trainer_config(const ddp_options *o)
{
    const double mib = 1 << 20;
    int nccl = ddp_gpus_use_nccl(session.group);
    int defers = o->overlap && ddp_group_size(session.group) > 1;

    return (ddp_trainer_config){
        .reducer = {.bucket_bytes = (size_t)(ddp_options_bucket_mb(o, nccl) * mib),
                    .first_bucket_bytes = (size_t)(o->first_bucket_mb * mib),
                    .defer_bytes = defers ? (size_t)(o->defer_mb * mib) : 0,
                    .overlap = o->overlap,
                    .find_unused = o->find_unused,
                    .names = ddp_options_names(),
                    .watch = session.watch},
        .batch_mode = o->batch == DDP_CHOICE_RANK ? DDP_BATCH_RANK : DDP_BATCH_GLOBAL,
        .broadcast_buffers = o->broadcast_buffers == DDP_CHOICE_STEP,
        .exact = o->exact,
        .sync_every = o->sync_every,
        .seed = session.seed,
        .asked = session.asked,
        .verify_every = o->verify_every,
        .bad_data = session.bad_data,
        .wait_for_loaders = o->on_bad_data == 0,
        .guard = {.skip_most = o->on_nan, .dropped = dropped, .end = not_finite},
        .fail = ddp_session_fail,
    };
}

/* A rank that may run on every core shares them with the host's other ranks; one
 * that its launcher bound has its own. */
static int loader_threads(const ddp_options *options)
{
    int cores = ddp_cores();
    int most = 64;

    if (options->threads > 0)
        return options->threads;
    if (cores == (int)sysconf(_SC_NPROCESSORS_ONLN))
        cores /= ddp_group_local_size(session.group);
    if (cores < 1)
        return 1;
    return cores < most ? cores : most;
}

static ddp_darknet_config darknet_config(const ddp_options *o)
{
    return (ddp_darknet_config){.fp32 = o->fp32,
                                .deterministic = o->deterministic,
                                .any_threads = o->exact,
                                .allow_unknown_keys = o->allow_unknown_keys,
                                .weights_force = o->weights_force,
                                .labels_required = o->labels_required,
                                .loader_threads = loader_threads(o),
                                .verbose = o->verbose,
                                .line = ddp_group_rank(session.group) == 0 ? show_line : NULL,
                                .fatal = ddp_report_fatal};
}

static ddp_status use_schedule(const ddp_options *options, ddp_error *err)
{
    ddp_status st = ddp_group_use_schedule(session.group, (ddp_schedule)options->schedule, err);

    return st == DDP_ERR_USAGE ? ddp_wrap(err, "-ddp_schedule levels") : st;
}

void ddp_session_open(const ddp_options *options)
{
    ddp_trainer_config config;
    ddp_darknet_config darknet;
    ddp_plugin_config plugin;
    ddp_error err;

    session.options = options;
    session.launcher = ddp_launcher_read();
    session.asked = ddp_signals_open();
    session.watch = ddp_lookout_open(options);
    ddp_group_use_interface(options->interface);
    if (ddp_group_open(&session.group, pick_backend(options, session.launcher), &err))
        ddp_session_fail(&err);
    ddp_report_open(session.group);
    darknet = darknet_config(options);
    ddp_darknet_configure(&darknet);
    ddp_group_set_timeout(session.group, own_timeout_ns(options));
    if (check_launch(session.launcher, ddp_group_size(session.group), &err)
        || ddp_lookout_join(session.group, &err) || agree(&err) || use_schedule(options, &err)
        || ddp_gpus_open(&session.gpus, session.group, options, ddp_session_fail, &err)
        || agree_on_devices(&err))
        ddp_session_fail(&err);
    if (ddp_bad_data_open(&session.bad_data, session.seed, &err))
        ddp_session_fail(&err);
    config = trainer_config(options);
    if (ddp_trainer_open(&session.trainer, session.group, &config, &err))
        ddp_session_fail(&err);
    plugin = plugin_config(options);
    ddp_plugin_open(&plugin);
}

void ddp_session_validate(const char *command, const char *data, const char *cfg)
{
    ddp_error err;

    session.truth = ddp_contents_truth(command, data);
    if (ddp_contents_agree_on_data(session.group, command, data, &err)
        || ddp_validation_open(&session.validation, session.options, session.group, command, data,
                               &err)
        || ddp_validation_agree(session.validation, session.truth, &err)
        || ddp_precheck(session.group, session.options, command, data, cfg, &err))
        ddp_session_fail(&err);
}

int ddp_session_close(void)
{
    int status = judge_saves();
    ddp_error err;

    ddp_plugin_close();
    if (ddp_trace_run_close(&err))
        ddp_session_fail(&err);
    summarise_unreadable();
    summarise(0);
    ddp_records_end(session.records, "ended");
    ddp_records_close(session.records);
    ddp_waits_release(&session.waits);
    ddp_trainer_close(session.trainer);
    ddp_bad_data_close(session.bad_data);
    ddp_checkpoints_close(session.checkpoints);
    ddp_inputs_release(&session.inputs);
    ddp_validation_close(session.validation);
    if (ddp_barrier(session.group, &err))
        ddp_session_fail(&err);
    ddp_lookout_close();
    ddp_ownership_give_back();
    ddp_report_done(status);
    ddp_group_close(session.group);
    ddp_gpus_release(&session.gpus);
    session.trainer = NULL;
    session.group = NULL;
    return status;
}

ddp_group *ddp_session_group(void)
{
    return session.group;
}

const ddp_gpus *ddp_session_gpus(void)
{
    return &session.gpus;
}

ddp_trainer *ddp_session_trainer(void)
{
    return session.trainer;
}
