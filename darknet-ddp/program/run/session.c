#include "run/session.h"

#include "algorithms/compressor.h"
#include "base/clock.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/group_schedule.h"
#include "core/agree.h"
#include "glue/bf16.h"
#include "glue/build_info.h"
#include "inputs/arguments.h"
#include "inputs/list.h"
#include "inputs/preflight.h"
#include "launch/mpirun.h"
#include "launch/signals.h"
#include "launch/transport_choice.h"
#include "run/bf16.h"
#include "run/darknet_config.h"
#include "run/nan_report.h"
#include "run/reducer_config.h"
#include "run/state.h"
#include "run/watchdog.h"
#include "show/rank_output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long this rank waits for a message before it fails. Longer than the watch, whose table says
 * more than this failure, which knows the peer alone. */
static int64_t own_timeout_ns(const ddp_options *o)
{
    double longest = o->timeout > o->io_timeout ? o->timeout : o->io_timeout;

    return o->timeout > 0 && o->io_timeout > 0 ? (int64_t)((longest + 60) * 1e9) : 0;
}

static ddp_status check_launch(ddp_launcher launcher, int size, ddp_error *err)
{
    if (launcher.ranks > 0 && launcher.ranks != size)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "the launcher started %d processes, but this one is in a group of %d: the "
                        "launcher and MPI do not know each other (srun may want --mpi=%s)",
                        launcher.ranks, size, ddp_mpirun_srun_mpi());
    return DDP_OK;
}

/* text, which this frees, may be NULL: no memory. */
static ddp_status agree_on(char *text, ddp_error *err)
{
    ddp_status st = text ? ddp_agree(ddp_run.group, text, err)
                         : ddp_fail(err, DDP_ERR_NOMEM, "no memory for what ranks compare");

    free(text);
    return st;
}

static ddp_status agree(ddp_error *err)
{
    const ddp_options *o = ddp_run.options;

    if (agree_on(ddp_options_agreement(o, ddp_gpus_wanted(o)), err)
        || agree_on(ddp_build_describe(), err))
        return err->code;
    ddp_run.seed = o->seed >= 0 ? (uint64_t)o->seed : (uint64_t)ddp_clock_ns() % 1000000000;
    return ddp_broadcast(ddp_run.group, &ddp_run.seed, sizeof ddp_run.seed, 0, err);
}

/* Where the bits are to be those of any other number of ranks, each must round alike. */
static ddp_status agree_on_devices(ddp_error *err)
{
    char text[512];

    if (!ddp_run.options->exact)
        return DDP_OK;
    ddp_build_describe_device(ddp_device_name(ddp_group_device(ddp_run.group)), text, sizeof text);
    return ddp_agree(ddp_run.group, text, err);
}

static void skipped(const ddp_not_finite *what)
{
    ddp_nan_report_skipped(ddp_run.group, what,
                           ddp_compress_choice_wire(&ddp_run.options->compress));
}

static void not_finite(const ddp_not_finite *what) __attribute__((noreturn));

static void not_finite(const ddp_not_finite *what)
{
    ddp_error err;

    ddp_nan_report_error(ddp_run.group, what, ddp_compress_choice_wire(&ddp_run.options->compress),
                         ddp_checkpoints_last(ddp_run.checkpoints), &err);
    ddp_session_fail(&err);
}

static ddp_trainer_config trainer_config(const ddp_options *o)
{
    return (ddp_trainer_config){
        .reducer = ddp_reducer_config_of(o, ddp_run.group, ddp_run.watch),
        .batch_mode = (ddp_batch_mode)o->batch,
        .broadcast_buffers = o->broadcast_buffers == DDP_BUFFERS_STEP,
        .exact = o->exact,
        .sync_bn = o->sync_bn,
        .sync_every = o->sync_every,
        .options = o,
        .compress_after = (size_t)o->compress_after,
        .seed = ddp_run.seed,
        .asked = ddp_run.asked,
        .verify_every = o->verify_every,
        .bad_data = ddp_run.bad_data,
        .unreadable = ddp_plugin_end_bad_samples,
        .guard = {.skip_most = o->on_nan, .skipped = skipped, .end = not_finite},
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
        cores /= ddp_group_local_size(ddp_run.group);
    if (cores < 1)
        return 1;
    return cores < most ? cores : most;
}

static ddp_plugin_config plugin_config(const ddp_options *o)
{
    ddp_plugin_config config = {
        .group = ddp_run.group,
        .trainer = ddp_run.trainer,
        .seed = ddp_run.seed,
        .replace = o->replace,
        .skip_bad = o->on_bad_data,
    };

    ddp_session_checkpoint_callbacks(&config.callbacks);
    ddp_session_begin_callbacks(&config.callbacks);
    ddp_session_step_callbacks(&config.callbacks);
    ddp_session_end_callbacks(&config.callbacks);
    return config;
}

/* The average of the weights is the one file of weights that Darknet saves by itself. */
static void keep_before_average(const char *path)
{
    ddp_error err;

    if (ddp_checkpoints_keep_before_average(ddp_run.checkpoints, path, &err))
        ddp_session_fail(&err);
}

static void configure_darknet(const ddp_options *o)
{
    ddp_darknet_config darknet = ddp_darknet_config_of(o);

    darknet.any_threads = o->exact;
    darknet.loader_threads = loader_threads(o);
    darknet.line = ddp_group_rank(ddp_run.group) == 0 ? ddp_session_show_line : NULL;
    darknet.fatal = ddp_rank_output_fatal;
    darknet.saves = keep_before_average;
    ddp_darknet_configure(&darknet);
}

/* How sums travel. */
static ddp_status use_schedule(const ddp_options *options, ddp_error *err)
{
    ddp_status st = ddp_group_use_schedule(ddp_run.group, (ddp_schedule)options->schedule, err);

    if (st == DDP_ERR_USAGE)
        return ddp_wrap(err, "-ddp_schedule hierarchical");
    return st ? st : ddp_group_use_channels(ddp_run.group, options->channels, err);
}

/* Replace auto by the decision, which a checkpoint remembers. The result lives as long as the run.
 */
static const ddp_options *settle_bf16(const ddp_options *options, int bf16)
{
    static ddp_options settled;

    settled = *options;
    settled.bf16 = bf16;
    ddp_bf16_use(bf16);
    return ddp_run.options = &settled;
}

void ddp_session_open(const ddp_options *options)
{
    ddp_trainer_config config;
    ddp_plugin_config plugin;
    int bf16;
    ddp_error err;

    ddp_run.options = options;
    ddp_run.launcher = ddp_launcher_read();
    ddp_run.asked = ddp_signals_open(options->ddp && !ddp_launched(ddp_run.launcher));
    if (options->rendezvous) /* a rank may wait long for others to be started */
        ddp_watchdog_close();
    if (ddp_backend_open(&ddp_run.group, options, ddp_run.launcher, &err))
        ddp_session_fail(&err);
    ddp_run.watch = ddp_watchdog_open(options);
    ddp_rank_output_open(ddp_run.group);
    configure_darknet(options);
    ddp_group_set_timeout(ddp_run.group, own_timeout_ns(options));
    if (check_launch(ddp_run.launcher, ddp_group_size(ddp_run.group), &err)
        || ddp_watchdog_join(ddp_run.group, &err) || agree(&err) || use_schedule(options, &err)
        || ddp_gpus_open(&ddp_run.gpus, ddp_run.group, options, ddp_session_fail, &err)
        || ddp_compressor_check_ranks(options, ddp_group_size(ddp_run.group), &err)
        || ddp_bf16_run_decide(&bf16, options, ddp_run.group, &err) || agree_on_devices(&err))
        ddp_session_fail(&err);
    options = settle_bf16(options, bf16);
    if (ddp_bad_samples_open(&ddp_run.bad_data, ddp_run.options->on_bad_data == 0, &err))
        ddp_session_fail(&err);
    config = trainer_config(options);
    if (ddp_trainer_open(&ddp_run.trainer, ddp_run.group, &config, &err))
        ddp_session_fail(&err);
    plugin = plugin_config(options);
    ddp_plugin_open(&plugin);
}

/* Every picture of the training list is looked for before an earlier run is set aside. Darknet
 * reads the list later. */
static ddp_status find_train(ddp_error *err)
{
    ddp_lines list = {0};
    ddp_status st;

    if (!ddp_run.list || ddp_run.options->on_bad_data > 0)
        return DDP_OK;
    st = ddp_lines_read(&list, ddp_run.list, err);
    if (!st)
        st = ddp_list_check_pictures(ddp_run.group, list.all, list.count, ddp_run.list, err);
    ddp_lines_release(&list);
    return st;
}

/* Fail if a picture of the validation list is missing. The first validation, which would find that
 * out, may be hours away. */
static ddp_status find_valid(ddp_error *err)
{
    size_t count;
    char *const *paths;

    if (!ddp_run.validation)
        return DDP_OK;
    paths = ddp_validation_pictures(ddp_run.validation, &count);
    return ddp_list_check_pictures(ddp_run.group, paths, count,
                                   ddp_validation_key(ddp_run.validation, "valid"), err);
}

static ddp_status find_valid_labels(ddp_error *err)
{
    ddp_error found;

    if (!ddp_validation_find_labels(ddp_run.validation, &found))
        return DDP_OK;
    return ddp_fail(err, found.code, "%s; -ddp_validate 0 trains without validation", found.text);
}

/* train= of a .data file, for the whole run; NULL: there is none, or it cannot be read. */
static char *find_list(const char *data)
{
    ddp_sections sections = {0};
    char *list = NULL;
    const char *path;
    ddp_error ignored;

    if (data && !ddp_data_read(&sections, data, &ignored)
        && (path = ddp_sections_find(&sections, "train")))
        list = strdup(path);
    ddp_sections_release(&sections);
    return list;
}

void ddp_session_prepare(const ddp_session_command *command)
{
    const char *name = command->name, *data = command->data;
    ddp_error err;

    ddp_run.command = *command;
    ddp_run.is_detector = strcmp(name, "detector") == 0;
    ddp_run.label_kind = ddp_same_data_truth(name, data);
    ddp_run.list = find_list(data);
    ddp_bad_samples_set_file(ddp_run.bad_data, ddp_run.list);
    if (ddp_overrides_make(&ddp_run.overrides, ddp_run.options, command->cfg, ddp_run.list,
                           ddp_group_size(ddp_run.group), &err))
        ddp_session_fail(&err);
    ddp_darknet_set_net_values(ddp_run.overrides.values);
    if (ddp_same_data_agree_on_data(ddp_run.group, name, data, &err)
        || ddp_validation_open(&ddp_run.validation, ddp_run.options, ddp_run.group, name, data,
                               &err)
        || ddp_validation_agree(ddp_run.validation, ddp_run.label_kind, &err)
        || ddp_preflight(ddp_run.group, ddp_run.options, ddp_run.overrides.values, name, data,
                         command->cfg, ddp_report_print, &err)
        || find_train(&err) || find_valid(&err) || find_valid_labels(&err))
        ddp_session_fail(&err);
}

ddp_group *ddp_session_group(void)
{
    return ddp_run.group;
}

const ddp_gpus *ddp_session_gpus(void)
{
    return &ddp_run.gpus;
}

ddp_trainer *ddp_session_trainer(void)
{
    return ddp_run.trainer;
}
