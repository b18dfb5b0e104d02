#include "glue/plugin.h"

#include "base/clock.h"
#include "base/text.h"
#include "glue/support.h"
#include "glue/waiting_saves.h"
#include "samples/loader_status.h"
#include "samples/random_streams.h"
#include "samples/sampler.h"

#include <darknet.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Over the mini-batches of a step. */
struct head_sum {
    double box, object, category, iou;
    int boxes;
};

static struct {
    ddp_plugin_config config;
    train_plugin darknets;
    const char *directory; /* of the weights, and the cfg's path: Darknet's, for the whole run */
    char *cfg;
    ddp_requests asked; /* by any rank, and not done yet */
    ddp_head_layers heads;
    struct head_sum sums[DDP_HEADS];
    char *const *paths; /* the training list's lines, Darknet's; NULL: it has none */
    size_t path_count;
    size_t replaced; /* samples */
    ddp_waiting_saves waiting;
    size_t began; /* images learnt from before this run */
} plugin;

static ddp_trace *_Atomic traced; /* NULL: nobody asks what loaders do */

static void check(ddp_status st, const ddp_error *err)
{
    if (st)
        plugin.config.fail(err);
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
    ddp_position now;
    ddp_error err;

    plugin.directory = directory;
    plugin.cfg = cfg;
    plugin.heads = ddp_network_heads(net);
    memset(plugin.sums, 0, sizeof plugin.sums);
    check(ddp_check_trainable(net, &err), &err);
    check(callbacks->resume(net, directory, cfg, &plugin.config.seed, &err), &err);
    ddp_trainer_set_seed(plugin.config.trainer, plugin.config.seed);
    check(ddp_trainer_attach(plugin.config.trainer, net, &err), &err);
    ddp_draws_open(plugin.config.seed);
    ddp_bad_data_begin(plugin.config.bad_data, plugin.config.seed);
    now = ddp_position_of(net);
    plugin.began = now.images;
    check(callbacks->attached(net, &now, cfg, &err), &err);
}

static void reads(const char *what, const char *filename)
{
    ddp_error err;

    check(plugin.config.callbacks.reads(what, filename, &err), &err);
}

static void check_list(char **paths, int n)
{
    ddp_error err;

    plugin.paths = paths;
    plugin.path_count = (size_t)n;
    ddp_bad_data_list(plugin.config.bad_data, paths, (size_t)n);
    check(plugin.config.callbacks.check_list(paths, n, &err), &err);
}

static size_t choose(size_t sample, size_t n)
{
    size_t line = plugin.config.replace ? ddp_sampler_draw(plugin.config.seed, sample, n)
                                        : ddp_sampler_at(plugin.config.seed, sample, n);

    return ddp_bad_data_instead(plugin.config.bad_data, line, n);
}

static size_t choose_to_load(size_t sample, size_t n)
{
    ddp_loading_begin();
    return choose(sample, n);
}

static size_t instead(size_t line, size_t n)
{
    return ddp_bad_data_instead(plugin.config.bad_data, line, n);
}

static int unreadable(const char *path, const char *why)
{
    int again;
    char *sentence = ddp_bad_data_found(plugin.config.bad_data, path, why, &again);

    if (sentence)
        plugin.config.callbacks.unreadable(sentence);
    free(sentence);
    return again;
}

static void loaded(size_t sample)
{
    ddp_loading_end();
    ddp_bad_data_loaded(plugin.config.bad_data, sample);
}

const char *ddp_plugin_sample(size_t sample, size_t *line)
{
    size_t i;

    if (!plugin.paths || plugin.path_count == 0)
        return NULL;
    i = choose(sample, plugin.path_count);
    *line = i + 1;
    return plugin.paths[i];
}

static void save_now(network *net, const char *filename, int cutoff)
{
    ddp_error err;

    ddp_watch_phase(plugin.config.watch, DDP_PHASE_SAVING);
    check(plugin.config.callbacks.save(net, filename, cutoff, &err), &err);
    ddp_watch_phase(plugin.config.watch, DDP_PHASE_LOADING);
}

/* Once ranks are alike. */
static void save_what_waits(network *net)
{
    if (plugin.waiting.count == 0 || !ddp_trainer_is_alike(plugin.config.trainer))
        return;
    ddp_trainer_settle(plugin.config.trainer);
    for (size_t i = 0; i < plugin.waiting.count; i++)
        save_now(net, plugin.waiting.list[i].path, plugin.waiting.list[i].cutoff);
    ddp_waiting_saves_release(&plugin.waiting);
}

/* Now, or when a period of local SGD has ended. */
static void save(network *net, const char *filename, int cutoff)
{
    ddp_error err;

    if (!ddp_trainer_is_alike(plugin.config.trainer)) {
        check(ddp_waiting_saves_add(&plugin.waiting, filename, cutoff, &err), &err);
        return;
    }
    ddp_waiting_saves_drop(&plugin.waiting, filename);
    save_what_waits(net);
    save_now(net, filename, cutoff);
}

void ddp_plugin_save(network *net, const char *end)
{
    char *base = basecfg(plugin.cfg);

    save_weights_to(net, "%s/%s%s", plugin.directory, base, end);
    free(base);
}

void ddp_plugin_stop(void)
{
    plugin.asked.stop = 1;
}

/* Of the calling thread. A trace that began meanwhile is told nothing of what went on before. */
static void loading(int begins, int count)
{
    static _Thread_local struct {
        ddp_trace *trace;
        int64_t begin_ns;
        int lane;
    } own;
    char name[48];

    if (begins) {
        own.trace = atomic_load(&traced);
        own.begin_ns = ddp_clock_ns();
        own.lane = own.trace ? ddp_trace_take_loader(own.trace) : -1;
    } else if (own.trace) {
        (void)snprintf(name, sizeof name, "load %d picture%s", count, ddp_plural((size_t)count));
        ddp_trace_give_loader(own.trace, own.lane, own.begin_ns, name);
        own.trace = NULL;
    }
}

void ddp_plugin_trace(ddp_trace *trace)
{
    atomic_store(&traced, trace);
}

static void head(int layer, const head_figures *figures)
{
    struct head_sum *sum = plugin.sums;

    for (size_t i = 0; i < plugin.heads.count; i++, sum++)
        if (plugin.heads.layers[i] == layer) {
            sum->box += (double)figures->box_loss;
            sum->object += (double)figures->object_loss;
            sum->category += (double)figures->class_loss;
            sum->iou += (double)figures->iou;
            sum->boxes += figures->count;
        }
}

/* Of the step; the next one begins with none. */
static ddp_head_figures take_head(struct head_sum *sum, double images)
{
    ddp_head_figures figures = {.box = sum->box / images,
                                .object = sum->object / images,
                                .category = sum->category / images,
                                .iou = sum->boxes ? sum->iou / sum->boxes : (double)NAN};

    *sum = (struct head_sum){0};
    return figures;
}

static ddp_figures figures_of(network *net)
{
    ddp_batch batch = ddp_trainer_batch(plugin.config.trainer);
    ddp_figures figures = {.loss = ddp_trainer_loss(plugin.config.trainer),
                           .average_loss = (double)net->average_loss,
                           .rate = (double)get_current_rate(net)};

    for (size_t i = 0; i < plugin.heads.count; i++)
        figures.heads[i] = take_head(&plugin.sums[i], (double)batch.per_rank * batch.images);
    return figures;
}

void ddp_plugin_end_unreadable(network *net, size_t step, size_t samples)
{
    int learnt = *net->seen > plugin.began;

    ddp_trainer_average(plugin.config.trainer);
    if (learnt)
        ddp_plugin_save(net, ".backup");
    plugin.config.callbacks.end_unreadable(step, samples, learnt);
}

/* All ranks have the same count. */
static void judge_replaced(network *net, const ddp_position *now)
{
    plugin.replaced += ddp_trainer_bad_samples(plugin.config.trainer);
    if (plugin.replaced <= (size_t)plugin.config.skip_bad)
        return;
    ddp_trainer_take_back(plugin.config.trainer);
    ddp_plugin_end_unreadable(net, now->step, plugin.replaced);
}

size_t ddp_plugin_replaced(void)
{
    return plugin.replaced;
}

/* What was asked for waits for the end of an update, and of a period of local SGD. All ranks leave
 * in the same step. */
static void end_step(network *net)
{
    ddp_requests asked = ddp_trainer_requested(plugin.config.trainer);
    ddp_position now = ddp_position_of(net);
    ddp_figures figures = figures_of(net);
    ddp_error err;

    save_what_waits(net);
    ddp_watch_phase(plugin.config.watch, DDP_PHASE_VALIDATING);
    check(plugin.config.callbacks.step_ended(net, &now, &figures, &err), &err);
    ddp_watch_phase(plugin.config.watch, DDP_PHASE_LOADING);
    if (plugin.config.skip_bad > 0)
        judge_replaced(net, &now);
    plugin.asked.save |= asked.save;
    plugin.asked.stop |= asked.stop;
    if ((!plugin.asked.save && !plugin.asked.stop) || !now.update_ends
        || !ddp_trainer_is_alike(plugin.config.trainer))
        return;
    ddp_plugin_save(net, ".backup");
    if (plugin.asked.stop)
        plugin.config.callbacks.leave();
    plugin.asked.save = 0;
}

void ddp_plugin_open(const ddp_plugin_config *config)
{
    plugin.config = *config;
    plugin.asked = (ddp_requests){0};
    plugin.paths = NULL;
    plugin.replaced = 0;
    ddp_waiting_saves_release(&plugin.waiting);
    plugin.darknets = (train_plugin){
        .rank = ddp_group_rank(config->group),
        .world = ddp_group_size(config->group),
        .split_batch = split_batch,
        .begin = begin,
        .reads = reads,
        .check_list = check_list,
        .choose = choose_to_load,
        .instead = instead,
        .unreadable = unreadable,
        .reads_picture = ddp_loading_reads,
        .loaded = loaded,
        .draw_for = ddp_draw_for,
        .draw = ddp_draw,
#ifdef GPU
        .draw_gpu = ddp_draw_gpu,
#endif
        .end_step = end_step,
        .save = save,
        .head = head,
        .loading = loading,
    };
    ddp_draws_open(config->seed);
    train_plugin_active = &plugin.darknets;
}

void ddp_plugin_close(void)
{
    train_plugin_active = NULL;
    ddp_waiting_saves_release(&plugin.waiting);
}
