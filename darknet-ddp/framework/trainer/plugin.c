#include "trainer/plugin.h"

#include "base/plural.h"
#include "comm/collectives.h"
#include "glue/trainable.h"
#include "samples/loader_status.h"
#include "samples/sampler.h"
#include "trainer/deferred_saves.h"
#include "trainer/loader_trace.h"
#include "watch/watch.h"

#include <darknet.h>

#include <stdio.h>
#include <stdlib.h>

static struct {
    ddp_plugin_config config;
    /* copy of config.trainer's: loaders may still use it when the trainer is closed */
    ddp_trainer_config settings;
    train_plugin darknets;
    const char *directory; /* of the weights, and the cfg's path: Darknet's, for the whole run */
    char *cfg;
    ddp_requests asked; /* by any rank, and not done yet */
    network *net;
    ddp_head_sums heads;
    ddp_label_losses *losses; /* of labels; NULL: the network has no [yolo] */
    char *const *paths; /* the training list's lines, path_count of them; NULL: there is none */
    size_t path_count;
    size_t replaced; /* samples */
    ddp_deferred_saves waiting;
    size_t began; /* images learnt from before this run */
} plugin;

static void check(ddp_status st, const ddp_error *err)
{
    if (st)
        plugin.settings.fail(err);
}

static void split_batch(int *batch, int *subdivisions)
{
    ddp_error err;

    check(ddp_trainer_split(plugin.config.trainer, batch, subdivisions, &err), &err);
}

/* Everybody's network becomes rank 0's, which a checkpoint may have changed before. */
static void begin(network *net, const char *directory, char *cfg)
{
    const ddp_plugin_callbacks *callbacks = &plugin.config.callbacks;
    uint64_t seed = plugin.config.seed;
    ddp_train_position now;
    ddp_error err;

    plugin.directory = directory;
    plugin.cfg = cfg;
    plugin.net = net;
    ddp_head_sums_init(&plugin.heads, net);
    check(ddp_check_trainable(net, &err), &err);
    check(callbacks->resume(net, directory, cfg, &seed, &err), &err);
    ddp_trainer_set_seed(plugin.config.trainer, seed);
    check(ddp_trainer_attach(plugin.config.trainer, net, &err), &err);
    ddp_sampler_seed(seed);
    ddp_bad_samples_set_seed(plugin.settings.bad_data, seed);
    now = ddp_train_position_of(net);
    plugin.began = now.images;
    check(callbacks->attached(net, &now, cfg, &err), &err);
}

static void reads(const char *what, const char *filename)
{
    ddp_error err;

    check(plugin.config.callbacks.reads(what, filename, &err), &err);
}

static int has_yolo(void)
{
    for (size_t i = 0; i < plugin.heads.heads.count; i++)
        if (plugin.net->layers[plugin.heads.heads.layers[i]].type == YOLO)
            return 1;
    return 0;
}

static void check_list(char **paths, int n)
{
    size_t batch = (size_t)ddp_trainer_batch(plugin.config.trainer).batch;
    ddp_error err;

    plugin.paths = paths;
    plugin.path_count = (size_t)n;
    ddp_bad_samples_set_list(plugin.settings.bad_data, paths, (size_t)n);
    ddp_label_losses_close(plugin.losses);
    plugin.losses = NULL;
    if (has_yolo())
        check(ddp_label_losses_open(&plugin.losses, batch, paths, (size_t)n, &err), &err);
    check(plugin.config.callbacks.check_list(paths, n, &err), &err);
}

static void labelled(char *has, int n)
{
    ddp_error err;

    check(plugin.config.callbacks.labelled(has, n, &err), &err);
}

static int unreadable(const char *path, const char *why, int can_be_blank)
{
    int next;
    char *sentence =
        ddp_bad_samples_note_unreadable(plugin.settings.bad_data, path, why, can_be_blank, &next);

    if (sentence)
        plugin.config.callbacks.unreadable(sentence);
    free(sentence);
    return next;
}

static void note_truth(size_t sample, int n, const char *path, int line)
{
    ddp_label_losses_set_truth(plugin.losses, sample, n, path, line);
}

const char *ddp_plugin_line_path(size_t line)
{
    return plugin.paths[line];
}

ddp_label_losses *ddp_plugin_label_losses(void)
{
    return plugin.losses;
}

const char *ddp_plugin_sample_path(size_t sample, size_t *line)
{
    size_t i;

    if (!plugin.paths || plugin.path_count == 0)
        return NULL;
    i = ddp_sampler_line(sample, plugin.path_count);
    *line = i + 1;
    return plugin.paths[i];
}

static void save_now(network *net, const char *filename, int cutoff)
{
    ddp_error err;

    ddp_watch_phase(plugin.settings.reducer.watch, DDP_PHASE_SAVING);
    check(plugin.config.callbacks.save(net, filename, cutoff, &err), &err);
    ddp_watch_phase(plugin.settings.reducer.watch, DDP_PHASE_LOADING);
}

/* Save what was asked for while ranks differed, now that they are in sync. */
static void save_what_waits(network *net)
{
    if (plugin.waiting.count == 0 || !ddp_trainer_in_sync(plugin.config.trainer))
        return;
    ddp_trainer_flush(plugin.config.trainer);
    for (size_t i = 0; i < plugin.waiting.count; i++)
        save_now(net, plugin.waiting.list[i].path, plugin.waiting.list[i].cutoff);
    ddp_deferred_saves_release(&plugin.waiting);
}

/* Save now, or, in a period of local SGD, when it has ended. */
static void save(network *net, const char *filename, int cutoff)
{
    ddp_error err;

    if (!ddp_trainer_in_sync(plugin.config.trainer)) {
        check(ddp_deferred_saves_add(&plugin.waiting, filename, cutoff, &err), &err);
        return;
    }
    ddp_deferred_saves_drop(&plugin.waiting, filename);
    save_what_waits(net);
    save_now(net, filename, cutoff);
}

void ddp_plugin_save(network *net, const char *end)
{
    char *base = basecfg(plugin.cfg);

    save_weights_to(net, "%s/%s%s", plugin.directory, base, end);
    free(base);
}

/* Save the backup, with the average of the weights (ema_alpha), as Darknet does. */
static void save_backup(network *net)
{
    char *base = basecfg(plugin.cfg);

    ddp_plugin_save(net, ".backup");
    save_averages(net, plugin.directory, base);
    free(base);
}

void ddp_plugin_stop(void)
{
    plugin.asked.stop = 1;
}

static void head(int layer, const head_figures *figures)
{
    ddp_head_sums_add_mini_batch(&plugin.heads, layer, figures);
    ddp_label_losses_add_mini_batch(plugin.losses, plugin.net, layer);
}

static ddp_figures figures_of(network *net)
{
    ddp_batch batch = ddp_trainer_batch(plugin.config.trainer);
    ddp_figures figures = {.loss = ddp_trainer_loss(plugin.config.trainer),
                           .average_loss = (double)net->average_loss,
                           .rate = (double)get_current_rate(net)};

    ddp_head_sums_take_figures(&plugin.heads, (double)batch.per_rank * batch.images, figures.heads);
    return figures;
}

void ddp_plugin_end_unreadable(network *net, const char *what, const char *instead)
{
    int learnt = *net->seen > plugin.began;

    ddp_trainer_sync(plugin.config.trainer);
    if (learnt)
        save_backup(net);
    plugin.config.callbacks.end_unreadable(what, instead, learnt);
}

static void end_bad_samples(network *net, size_t step, size_t samples, const char *more,
                            const char *instead) __attribute__((noreturn));

static void end_bad_samples(network *net, size_t step, size_t samples, const char *more,
                            const char *instead)
{
    char what[128];

    (void)snprintf(what, sizeof what, "step %zu: %zu sample%s cannot be read (see above)%s", step,
                   samples, ddp_plural(samples), more);
    ddp_plugin_end_unreadable(net, what, instead);
}

static const char in_their_place[] = "which trains with others in their place";

void ddp_plugin_end_bad_samples(network *net, size_t step, size_t samples)
{
    if (plugin.config.skip_bad > 0)
        end_bad_samples(net, step, samples, ", nor any in their place", NULL);
    end_bad_samples(net, step, samples, "", in_their_place);
}

/* End the run where too many samples were replaced: all ranks have the same count. */
static void judge_replaced(network *net, const ddp_train_position *now)
{
    plugin.replaced += ddp_trainer_replaced_samples(plugin.config.trainer);
    if (plugin.replaced <= (size_t)plugin.config.skip_bad)
        return;
    ddp_trainer_rollback(plugin.config.trainer);
    end_bad_samples(net, now->step, plugin.replaced, ", more than are to be skipped",
                    in_their_place);
}

size_t ddp_plugin_replaced(void)
{
    return plugin.replaced;
}

/* Do what was asked for at the end of an update, and of a period of local SGD. All ranks leave in
 * the same step. */
static void end_step(network *net)
{
    ddp_requests asked = ddp_trainer_requested(plugin.config.trainer);
    ddp_train_position now = ddp_train_position_of(net);
    ddp_figures figures = figures_of(net);
    ddp_error err;

    save_what_waits(net);
    ddp_watch_phase(plugin.settings.reducer.watch, DDP_PHASE_VALIDATING);
    check(plugin.config.callbacks.step_ended(net, &now, &figures, &err), &err);
    ddp_watch_phase(plugin.settings.reducer.watch, DDP_PHASE_LOADING);
    if (plugin.config.skip_bad > 0)
        judge_replaced(net, &now);
    plugin.asked.save |= asked.save;
    plugin.asked.stop |= asked.stop;
    if ((!plugin.asked.save && !plugin.asked.stop) || !now.update_ends
        || !ddp_trainer_in_sync(plugin.config.trainer))
        return;
    save_backup(net);
    if (plugin.asked.stop)
        plugin.config.callbacks.leave();
    plugin.asked.save = 0;
}

void ddp_plugin_open(const ddp_plugin_config *config)
{
    plugin.config = *config;
    plugin.settings = *ddp_trainer_settings(config->trainer);
    plugin.asked = (ddp_requests){0};
    plugin.paths = NULL;
    plugin.path_count = 0;
    plugin.replaced = 0;
    ddp_deferred_saves_release(&plugin.waiting);
    plugin.darknets = (train_plugin){
        .is_first = ddp_group_rank(config->group) == 0,
        .split_batch = split_batch,
        .begin = begin,
        .reads = reads,
        .check_list = check_list,
        .labelled = labelled,
        .choose = ddp_sampler_choose,
        .instead = ddp_sampler_instead,
        .unreadable = unreadable,
        .reads_picture = ddp_loading_reads,
        .loaded = ddp_sampler_loaded,
        .truth = note_truth,
        .draw_for = ddp_draw_for,
        .draw = ddp_draw,
#ifdef GPU
        .draw_gpu = ddp_draw_gpu,
#endif
        .end_step = end_step,
        .save = save,
        .head = head,
        .loading = ddp_loader_trace_loading,
    };
    ddp_sampler_open(config->replace, plugin.settings.bad_data);
    ddp_sampler_seed(config->seed);
    train_plugin_active = &plugin.darknets;
}

void ddp_plugin_close(void)
{
    train_plugin_active = NULL;
    ddp_deferred_saves_release(&plugin.waiting);
    ddp_label_losses_close(plugin.losses);
    plugin.losses = NULL;
}
