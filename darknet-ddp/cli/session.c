#include "cli/session.h"

#include "base/clock.h"
#include "base/random.h"
#include "cli/banner.h"
#include "cli/checkpoints.h"
#include "cli/compare.h"
#include "cli/launcher.h"
#include "cli/list.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "core/agree.h"
#include "core/sampler.h"
#include "glue/draws.h"
#include "glue/support.h"

#include <unistd.h>

static struct {
    const ddp_options *options;
    ddp_group *group;
    ddp_gpus gpus;
    ddp_trainer *trainer;
    ddp_checkpoints *checkpoints;
    volatile sig_atomic_t *asked_here; /* of this rank, by signals */
    ddp_requests asked;                /* of any rank, and not done yet */
    uint64_t seed;
    ddp_progress progress;
    train_plugin plugin;
} session;

void ddp_session_fail(const ddp_error *err)
{
    ddp_report_failure(err);
}

/* ---- what Darknet asks (train_plugin in darknet.h) ---- */

static void split_batch(int *batch, int *subdivisions)
{
    ddp_error err;

    if (ddp_trainer_split(session.trainer, batch, subdivisions, &err))
        ddp_session_fail(&err);
}

static ddp_progress_now progress_now(network *net)
{
    return (ddp_progress_now){
        .now_ns = ddp_clock_ns(),
        .communication_ns = ddp_trainer_communication_ns(session.trainer),
        .images = *net->seen,
        .step = get_current_batch(net),
        .last_step = net->max_batches > 0 ? (size_t)net->max_batches : 0,
    };
}

/* Everybody's network becomes rank 0's, which a checkpoint may have changed before. */
static ddp_status attach(network *net, const char *directory, char *cfg, ddp_error *err)
{
    if (ddp_check_trainable(net, err)
        || ddp_checkpoints_open(&session.checkpoints, session.options, session.group, directory,
                                cfg, err)
        || ddp_checkpoints_resume(session.checkpoints, net, &session.seed, err)
        || ddp_trainer_attach(session.trainer, net, err)
        || ddp_checkpoints_share(session.checkpoints, ddp_trainer_table(session.trainer), err)
        || ddp_compare_cfgs(session.group, cfg, err))
        return err->code;
    ddp_draws_open(session.seed);
    ddp_signals_take_term();
    return DDP_OK;
}

/* By whose formulas, and what in the cfg decides it. */
static void print_mathematics(const network *net)
{
    if (net->yolo_math_v4)
        printf("DDP: mathematics of YOLOv4's Darknet (%s)\n", net->yolo_math_why);
    else
        printf("DDP: mathematics of YOLOv3's Darknet\n");
}

/* What the number of batches makes of this run, where that may surprise. */
static void print_length(network *net)
{
    size_t done = get_current_batch(net);

    if (net->max_batches % session.options->sync_every)
        printf("DDP: max_batches=%d is no multiple of -ddp_sync_every %d: the last batches end "
               "without an update\n",
               net->max_batches, session.options->sync_every);
    if (net->max_batches > 0 && done >= (size_t)net->max_batches)
        printf("DDP: nothing left to train: batch %zu of max_batches=%d is done; %s\n", done,
               net->max_batches,
               ddp_checkpoints_resumed(session.checkpoints)
                   ? "with a larger one -resume_force goes on"
                   : "-clear counts from 0");
}

static void begin(network *net, const char *directory, char *cfg)
{
    int rank = ddp_group_rank(session.group);
    ddp_progress_now now;
    ddp_error err;

    if (attach(net, directory, cfg, &err))
        ddp_session_fail(&err);
    ddp_checkpoints_begin(session.checkpoints, net);
    if (rank == 0) {
        ddp_banner_print(stdout, session.group, &session.gpus, session.trainer, session.options,
                         session.seed);
        print_mathematics(net);
        print_length(net);
    }
    ddp_report_errors_only();
    now = progress_now(net);
    ddp_progress_start(&session.progress, &now);
}

static void check_list(char **paths, int n)
{
    ddp_list list;
    ddp_error err;

    if (ddp_list_check(&list, session.group, paths, n, &err)
        || ddp_checkpoints_check_list(session.checkpoints, list, &err))
        ddp_session_fail(&err);
}

static size_t choose(size_t sample, size_t n)
{
    if (session.options->replace)
        return ddp_sampler_draw(session.seed, sample, n);
    return ddp_sampler_at(session.seed, sample, n);
}

static void report(network *net)
{
    ddp_progress_now now = progress_now(net);
    char text[128];

    ddp_progress_line(&session.progress, &now, text, sizeof text);
    printf("%s", text);
}

static void save(network *net, const char *filename, int cutoff)
{
    ddp_error err;

    if (ddp_checkpoints_save(session.checkpoints, net, filename, cutoff, session.seed, &err))
        ddp_session_fail(&err);
}

/* All ranks leave in the same step. Loader threads go on until the end. */
static void leave(void) __attribute__((noreturn));

static void leave(void)
{
    int status = ddp_checkpoints_status(session.checkpoints);
    ddp_error err;

    if (ddp_barrier(session.group, &err))
        ddp_session_fail(&err);
    ddp_report_close();
    ddp_trainer_close(session.trainer);
    ddp_group_close(session.group);
    (void)fflush(NULL);
    _exit(status);
}

/* What was asked for waits for the end of an update. */
static void end_step(network *net)
{
    ddp_requests asked = ddp_trainer_requested(session.trainer);

    session.asked.save |= asked.save;
    session.asked.stop |= asked.stop;
    if ((!session.asked.save && !session.asked.stop) || train_learnt(net) != *net->seen)
        return;
    ddp_checkpoints_save_backup(session.checkpoints, net);
    if (session.asked.stop)
        leave();
    session.asked.save = 0;
}

/* ---- opening ---- */

/* Of host memory; sums of a GPU's may go another way. */
static const char *pick_backend(const ddp_options *options, ddp_launch launch)
{
    if (options->backend == DDP_BACKEND_MPI)
        return "mpi";
    return launch.ranks > 0 && options->backend != DDP_BACKEND_SOLO ? "mpi" : "solo";
}

static ddp_status check_launch(ddp_launch launch, int size, ddp_error *err)
{
    if (launch.ranks > 0 && launch.ranks != size)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "the launcher started %d processes, but this one is in a group of %d: the "
                        "launcher and MPI do not know each other (srun may want --mpi=pmix)",
                        launch.ranks, size);
    return DDP_OK;
}

static ddp_status agree(ddp_error *err)
{
    char text[1024];

    ddp_options_agreement(session.options, ddp_gpus_wanted(session.options), text, sizeof text);
    if (ddp_agree(session.group, text, err))
        return err->code;
    session.seed = session.options->seed >= 0 ? (uint64_t)session.options->seed
                                              : (uint64_t)ddp_clock_ns() % 1000000000;
    return ddp_broadcast(session.group, &session.seed, sizeof session.seed, 0, err);
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
                    .find_unused = o->find_unused},
        .batch_mode = o->batch == DDP_CHOICE_RANK ? DDP_BATCH_RANK : DDP_BATCH_GLOBAL,
        .broadcast_buffers = o->broadcast_buffers == DDP_CHOICE_STEP,
        .exact = o->exact,
        .sync_every = o->sync_every,
        .seed = session.seed,
        .asked = session.asked_here,
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

void ddp_session_open(const ddp_options *options)
{
    ddp_launch launch = ddp_launch_read();
    ddp_trainer_config config;
    ddp_error err;

    session.options = options;
    session.asked_here = ddp_signals_open();
    if (ddp_group_open(&session.group, pick_backend(options, launch), &err))
        ddp_session_fail(&err);
    ddp_report_open(session.group);
    fatal_handler = ddp_report_fatal;
    if (check_launch(launch, ddp_group_size(session.group), &err) || agree(&err)
        || ddp_gpus_open(&session.gpus, session.group, options, ddp_session_fail, &err))
        ddp_session_fail(&err);
    config = trainer_config(options);
    if (ddp_trainer_open(&session.trainer, session.group, &config, &err))
        ddp_session_fail(&err);
    ddp_draws_open(session.seed);
    gemm_any_threads = options->exact;
    train_loader_threads = loader_threads(options);
    session.plugin = (train_plugin){
        .rank = ddp_group_rank(session.group),
        .world = ddp_group_size(session.group),
        .split_batch = split_batch,
        .begin = begin,
        .check_list = check_list,
        .choose = choose,
        .draw_for = ddp_draw_for,
        .draw = ddp_draw,
#ifdef GPU
        .draw_gpu = ddp_draw_gpu,
#endif
        .report = report,
        .end_step = end_step,
        .save = save,
    };
    train_plugin_active = &session.plugin;
}

int ddp_session_close(void)
{
    int status = ddp_checkpoints_status(session.checkpoints);
    ddp_error err;

    train_plugin_active = NULL;
    ddp_trainer_close(session.trainer);
    ddp_checkpoints_close(session.checkpoints);
    if (ddp_barrier(session.group, &err))
        ddp_session_fail(&err);
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
