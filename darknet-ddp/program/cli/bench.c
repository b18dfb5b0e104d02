/* The command `darknet ddp bench CFG`: times training steps on random data, and prints what a step
 * takes. */
#include "bench/bench.h"

#include "base/plural.h"
#include "cli/commands.h"
#include "comm/group_gpu.h"
#include "glue/bf16.h"
#include "glue/trainable.h"
#include "run/session.h"
#include "show/output_file.h"
#include "show/rank_output.h"
#include "timing/profiler.h"
#include "timing/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* On rank 0. Before the first step, so that a wrong path does not cost the figures. */
static FILE *open_file(const char *path)
{
    return ddp_group_rank(ddp_session_group()) == 0 ? ddp_output_file_open(path) : NULL;
}

static ddp_bench_config config_of(const char *cfg, const ddp_options *o)
{
    int on_host = ddp_device_is_host(ddp_group_device(ddp_session_group()));
    static char wire[DDP_COMPRESS_TEXT]; /* for as long as the figures */

    return (ddp_bench_config){
        .group = ddp_session_group(),
        .trainer = ddp_session_trainer(),
        .cfg = cfg,
        .batches = o->sync_every,
        .steps = o->steps,
        .devices = ddp_session_gpus()->names,
        .fp32 = o->fp32,
        .bf16 = ddp_bf16_is_used(),
        .exact = o->exact,
        .deterministic = !on_host && o->deterministic,
        .overlap = o->overlap,
        .wire = o->compress.word != DDP_COMPRESS_none
                    ? ddp_compress_choice_format(&o->compress, wire)
                    : NULL,
        .replay = o->replay,
        .trace = open_file(o->trace),
        .draw = o->trace != NULL,
    };
}

/* Every rank measures; rank 0 writes. */
static void write_profile(const ddp_bench_config *config, FILE *out)
{
    ddp_device *device = ddp_group_device(config->group);
    ddp_watch *watch = ddp_trainer_settings(config->trainer)->reducer.watch;
    const char **kinds = ddp_network_layer_types(config->net);
    ddp_layer_profile profile;
    char of[256];
    ddp_error err;

    ddp_trainer_flush(config->trainer);
    if (ddp_layer_profile_measure(&profile, config->net, device, watch, config->steps, &err))
        ddp_session_fail(&err);
    (void)snprintf(of, sizeof of, "%s, %dx%d, by rank 0 of %d; medians of %d step%s", config->cfg,
                   config->shape.width, config->shape.height, ddp_group_size(config->group),
                   config->steps, ddp_plural((size_t)config->steps));
    if (out && kinds)
        ddp_layer_profile_write(out, &profile, of, kinds);
    ddp_layer_profile_release(&profile);
    free(kinds);
}

/* Layers sleep from here on. */
static void replay(ddp_layer_profile *profile, const ddp_bench_config *config,
                   const ddp_options *options)
{
    ddp_error err;

    if (!ddp_device_is_host(ddp_group_device(config->group))) {
        (void)ddp_fail(&err, DDP_ERR_USAGE,
                       "-replay sleeps on the host, whatever the profile is of: -nogpu with it");
        ddp_session_fail(&err);
    }
    if (options->sync_bn) {
        (void)ddp_fail(&err, DDP_ERR_USAGE,
                       "-replay leaves out layers, and the waits of -ddp_sync_bn 1 with them: one "
                       "of both");
        ddp_session_fail(&err);
    }
    if (ddp_layer_profile_read(profile, options->replay, config->shape.layers, &err))
        ddp_session_fail(&err);
    ddp_replay_begin(config->net, profile);
}

static void run(ddp_bench_result *result, ddp_bench_config *config, const ddp_options *options)
{
    static ddp_layer_profile replayed; /* layers have it until the end */
    ddp_error err;

    config->net =
        ddp_command_load(&config->shape, config->cfg, options, ddp_session_gpus()->gpu, 1);
    if (ddp_check_trainable(config->net, &err)
        || ddp_trainer_attach(config->trainer, config->net, &err))
        ddp_session_fail(&err);
    if (options->replay)
        replay(&replayed, config, options);
    ddp_rank_output_show_errors();
    if (ddp_bench_run(result, config, &err))
        ddp_session_fail(&err);
}

/* On rank 0. */
static void print(const ddp_bench_result *r, FILE *out, const ddp_options *options)
{
    ddp_bench_print(out, r);
    if (options->trace && r->ranks > 1)
        (void)fprintf(out, "%s: %zu of %zu bucket%s %s summed when backward ended\n",
                      options->trace, r->hidden, r->buckets, ddp_plural(r->buckets),
                      r->buckets == 1 ? "was" : "were");
    (void)fflush(out);
}

int ddp_command_bench(const ddp_command_call *call)
{
    const ddp_options *options = call->options;
    ddp_bench_config config;
    ddp_bench_result result;
    FILE *out, *json, *profile;

    ddp_session_open(options);
    json = open_file(options->json);
    profile = open_file(options->profile);
    config = config_of(call->words[0], options);
    out = ddp_rank_output_take_output(); /* Darknet's lines about each mini-batch go nowhere */
    run(&result, &config, options);
    if (json)
        ddp_bench_print_json(json, &result);
    ddp_output_file_close(json, options->json);
    ddp_output_file_close(config.trace, options->trace);
    if (options->profile)
        write_profile(&config, profile);
    ddp_output_file_close(profile, options->profile);
    if (ddp_group_rank(config.group) == 0)
        print(&result, out, options);
    ddp_bench_release(&result);
    ddp_network_free(config.net);
    return ddp_session_close();
}
