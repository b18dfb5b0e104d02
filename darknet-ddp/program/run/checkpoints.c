/* Connects Darknet's train commands (trainer/plugin.c) with a run's checkpoints
 * (saves/checkpoints.c) by the callbacks `resume` and `save`. Measures how long a save takes. */
#include "run/session.h"

#include "base/clock.h"
#include "base/path.h"
#include "core/agree.h"
#include "run/losses.h"
#include "run/state.h"
#include "run/trace.h"
#include "state/weights_hash.h"

#include <inttypes.h>
#include <string.h>

static uint64_t first_weights_hash; /* of the network as it was loaded */

static int64_t communication_now(void)
{
    return ddp_trainer_communication_ns(ddp_run.trainer);
}

static ddp_status save_checkpoint(network *net, const char *path, int cutoff, ddp_error *err)
{
    int64_t began_ns = ddp_clock_ns(), communication_ns = communication_now();
    ddp_status st;

    ddp_run_files_saving(ddp_run.records);
    st = ddp_checkpoints_save(ddp_run.checkpoints, net, path, cutoff, err);
    if (!st)
        st = ddp_losses_save(net, err);
    ddp_trace_run_add(began_ns, path);
    ddp_run_files_saved(ddp_run.records);
    ddp_step_line_saved(ddp_clock_ns() - began_ns - (communication_now() - communication_ns));
    if (!st && ddp_group_rank(ddp_run.group) > 0) /* rank 0 knows when it is on the disk */
        ddp_session_advise();
    return st;
}

/* Print a line if the cfg's name has more dots than one: files of "my.v1.cfg" are named "my". */
static void say_short_name(const char *cfg)
{
    const char *name = ddp_path_name(cfg), *dot = strchr(name, '.');

    if (dot && strchr(dot + 1, '.') && ddp_group_rank(ddp_run.group) == 0)
        printf("DDP: the files of this run are named %.*s, the cfg's name up to its first dot, and "
               "so are those of %.*s.*.cfg\n",
               (int)(dot - name), name, (int)(dot - name), name);
}

static ddp_status resume(network *net, const char *directory, const char *cfg, uint64_t *seed,
                         ddp_error *err)
{
    char valid[DDP_VALIDATION_LIST] = "";
    const ddp_checkpoints_config config = {.options = ddp_run.options,
                                           .group = ddp_run.group,
                                           .trainer = ddp_run.trainer,
                                           .inputs = &ddp_run.inputs,
                                           .directory = directory,
                                           .cfg = cfg,
                                           .first_weights = ddp_run.command.weights,
                                           .valid = ddp_run.validation ? valid : NULL};

    say_short_name(cfg);
    if (ddp_run.validation && ddp_group_rank(ddp_run.group) == 0) /* who reads and writes them */
        ddp_validation_contents(ddp_run.validation, valid);
    if (ddp_trainer_open_algorithms(ddp_run.trainer, net, err)
        || ddp_weights_hash(&first_weights_hash, net, err)
        || ddp_checkpoints_open(&ddp_run.checkpoints, &config, net, &ddp_run.seed, err))
        return err->code;
    *seed = ddp_run.seed;
    ddp_run.directory = directory;
    ddp_run.cfg_path = cfg;
    return DDP_OK;
}

ddp_status ddp_session_agree_on_weights(ddp_error *err)
{
    char text[64];

    if (ddp_checkpoints_origin(ddp_run.checkpoints)->resumed)
        return DDP_OK;
    (void)snprintf(text, sizeof text, "first weights: contents %016" PRIx64, first_weights_hash);
    return ddp_agree(ddp_run.group, text, err);
}

void ddp_session_checkpoint_callbacks(ddp_plugin_callbacks *callbacks)
{
    callbacks->save = save_checkpoint;
    callbacks->resume = resume;
}
