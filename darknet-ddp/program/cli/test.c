/* The commands `darknet detector test`, `darknet detector demo` and `darknet classifier predict`:
 * predict boxes or classes of pictures and films. `darknet ddp suspects` is here, too: it compares
 * what is found in the pictures of train= with their labels. */
#include "base/clock.h"
#include "base/path.h"
#include "base/plural.h"
#include "cli/commands.h"
#include "glue/cfg.h"
#include "glue/find_boxes.h"
#include "inputs/arguments.h"
#include "inputs/text_file.h"
#include "launch/gpus.h"
#include "launch/transport_choice.h"
#include "predict/own_weights.h"
#include "predict/run.h"
#include "predict/source.h"
#include "predict/suspects.h"
#include "show/rank_output.h"
#include "show/run_log.h"
#include "show/terminal.h"
#include "validate/result_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct testing {
    const ddp_command_call *call;
    int is_classifier;
    int is_suspects; /* 1: of train=, and for the ranking of its labels */
    ddp_group *group;
    ddp_gpus gpus;
    ddp_own_weights own;  /* a run's, if the command names none */
    char *const *weights; /* one file, or several that look for suspects */
    size_t weights_count;
    network *nets[DDP_PREDICTORS_MOST];
    ddp_network_shape shape; /* of all nets */
    ddp_sections data;
    ddp_lines names, train;
    ddp_source source;
    ddp_sink_config config;
    ddp_predict_run run;
};

static void fail(const ddp_error *err) __attribute__((noreturn));

static void fail(const ddp_error *err)
{
    ddp_rank_output_failure(err);
}

static void require(ddp_status st, const ddp_error *err)
{
    if (st)
        fail(err);
}

/* ---- network and names ---- */

/* Choose the weights: those that the command names, or for suspects those of the cfg's run. */
static ddp_status choose_weights(struct testing *t, ddp_error *err)
{
    const ddp_command_call *call = t->call;

    t->weights = call->words + 2;
    t->weights_count = t->is_suspects ? (size_t)call->count - 2 : 1;
    if (t->weights_count > DDP_PREDICTORS_MOST)
        return ddp_fail(err, DDP_ERR_USAGE, "suspects takes at most %d files of weights",
                        DDP_PREDICTORS_MOST);
    if (t->weights_count > 0)
        return DDP_OK;
    if (ddp_own_weights_of_cfg(&t->own, &t->data, call->words[0], call->words[1], err))
        return err->code;
    t->weights = t->own.paths;
    t->weights_count = t->own.count;
    return DDP_OK;
}

static void load_networks(struct testing *t)
{
    const ddp_options *options = t->call->options;
    const ddp_net_number numbers[] = {{"width", options->net_width},
                                      {"height", options->net_height},
                                      {"batch", 1},
                                      {"subdivisions", 1}};

    for (size_t i = 0; i < t->weights_count; i++) {
        if (i > 0 || ddp_group_rank(t->group) > 0)
            ddp_rank_output_hide_errors();
        t->nets[i] = ddp_network_load(&t->shape, t->call->words[1], numbers,
                                      sizeof numbers / sizeof numbers[0], t->gpus.gpu, 0);
        ddp_network_read_weights(t->nets[i], t->weights[i]);
        ddp_rank_output_show_errors();
    }
}

/* The file with the names of classes; NULL: there is none. */
static const char *names_path(const struct testing *t)
{
    const char *path = ddp_sections_find(&t->data, "names");

    return path || !t->is_classifier ? path : ddp_sections_find(&t->data, "labels");
}

static ddp_status read_names(struct testing *t, ddp_error *err)
{
    const char *data = t->call->words[0], *path = names_path(t);

    if (!path)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "%s has no names=, the file with a name for each class, which is written "
                        "beside a box",
                        data);
    return ddp_names_read(&t->names, ddp_installed_path(path), err);
}

/* See that the names are those of the network's classes. */
static ddp_status check_names(struct testing *t, ddp_error *err)
{
    const char *data = t->call->words[0], *told = ddp_sections_find(&t->data, "classes");
    int classes = t->is_classifier ? t->shape.outputs : ddp_find_classes(t->nets[0]);

    t->config.classes = classes;
    t->config.names = t->names.all;
    if (told && ddp_sections_whole(&t->data, "classes", 0) != classes)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "%s has classes=%s, and %s tells %d apart: these would be wrong names. "
                        "`darknet %s X.data CFG WEIGHTS` takes the names of X.data",
                        data, told, t->call->words[1], classes,
                        t->is_classifier ? "classifier predict" : "detector test");
    if (t->names.count < (size_t)classes)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "names=%s: a name for each of the cfg's %d classes is wanted, and there "
                        "are %zu",
                        names_path(t), classes, t->names.count);
    return DDP_OK;
}

static int top_of(struct testing *t)
{
    int top = t->call->options->top;

    if (top == 0)
        top = ddp_sections_whole(&t->data, "top", 1);
    return top > 0 ? top : 1;
}

/* ---- where predictions go ---- */

static ddp_sink *next_sink(struct testing *t)
{
    return &t->run.sinks[t->run.sink_count++];
}

/* Return the path of the cfg's losses of labels beside the weights. Free it. NULL: no memory. */
static char *losses_path(const struct testing *t)
{
    const char *weights = t->weights[t->weights_count - 1];
    const int folder_length = (int)(ddp_path_name(weights) - weights);
    char *base = ddp_cfg_base(t->call->words[1]), *path = NULL;

    if (!base || asprintf(&path, "%.*s%s.losses", folder_length, weights, base) < 0)
        path = NULL;
    free(base);
    return path;
}

static ddp_status open_suspects(struct testing *t, ddp_error *err)
{
    const ddp_options *o = t->call->options;
    char *losses = losses_path(t);
    const ddp_suspects_files files = {o->out, o->json, o->results, losses};
    ddp_status st = ddp_suspects_sink_open(next_sink(t), &t->config, &files, err);

    free(losses);
    return st;
}

static ddp_status open_sinks(struct testing *t, ddp_error *err)
{
    const ddp_options *o = t->call->options;
    int is_first = ddp_group_rank(t->group) == 0, coco = o->json_format == DDP_JSON_COCO;

    if (t->is_suspects)
        return is_first ? open_suspects(t, err) : DDP_OK;
    if (coco && t->config.classes > DDP_COCO_CLASSES)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-json_format coco is for up to %d classes, and there "
                        "are %d",
                        DDP_COCO_CLASSES, t->config.classes);
    if (is_first && ddp_terminal_sink_open(next_sink(t), &t->config, err))
        return err->code;
    if (is_first && o->json && ddp_json_sink_open(next_sink(t), &t->config, o->json, coco, err))
        return err->code;
    if (is_first && !t->is_classifier && o->save_labels
        && ddp_label_sink_open(next_sink(t), &t->config, err))
        return err->code;
    if (!t->is_classifier && (o->results || t->config.is_one_file)
        && ddp_picture_sink_open(next_sink(t), &t->config, o->results, err))
        return err->code;
    if (!t->is_classifier && o->results
        && ddp_film_sink_open(next_sink(t), &t->config, o->results, err))
        return err->code;
    return DDP_OK;
}

/* ---- all of it ---- */

static void open_ranks(struct testing *t)
{
    const ddp_arguments words = {.command = t->is_classifier ? "classifier" : "detector",
                                 .data = t->call->words[0],
                                 .cfg = t->call->words[1],
                                 .weights = t->call->count > 2 ? t->call->words[2] : NULL};
    ddp_error err;

    require(ddp_backend_open(&t->group, t->call->options, t->call->launcher, &err), &err);
    ddp_rank_output_open(t->group);
    if (ddp_group_rank(t->group) == 0) {
        ddp_terminal_open(t->call->launcher);
        ddp_run_log_drop();
    }
    t->run.group = t->group;
    require(ddp_arguments_check_places(&words, &err), &err);
    require(ddp_gpus_open(&t->gpus, t->group, t->call->options, fail, &err), &err);
    require(ddp_data_read(&t->data, words.data, &err), &err);
    require(read_names(t, &err), &err);
}

/* Finds of less say nothing of a label. */
static const float least_score = 0.01F;

static int threads_of(const ddp_options *o)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return o->threads > 0 ? o->threads : cores > 1 ? (int)cores : 2;
}

static void open_predictors(struct testing *t)
{
    const ddp_options *o = t->call->options;
    const ddp_predictor_config config = {.is_classifier = t->is_classifier,
                                         .thresh = t->is_suspects ? least_score : (float)o->thresh,
                                         .hierarchy = (float)o->hierarchy,
                                         .nms = (float)o->nms,
                                         .top = top_of(t),
                                         .threads = threads_of(o),
                                         .mirrors = t->is_suspects && t->shape.mirrors};
    ddp_error err;

    t->config.is_classifier = t->is_classifier;
    t->config.data = t->call->words[0];
    t->config.thresh = config.thresh;
    t->config.ext_output = o->ext_output;
    for (size_t i = 0; i < t->weights_count; i++) {
        ddp_predictor **predictor = &t->run.predictors[t->run.predictor_count++];

        require(ddp_predictor_open(predictor, t->nets[i], &config, &err), &err);
        if (o->predict_bf16)
            require(ddp_predictor_use_bf16(*predictor, &err), &err);
    }
    t->config.views = (1 + config.mirrors) * (int)t->weights_count;
    t->run.config = &t->config;
    t->run.unreadable = ddp_report_print;
}

static void set_files(struct testing *t, char **paths, size_t count, int is_one_file)
{
    t->config.paths = paths;
    t->config.count = count;
    t->config.is_one_file = is_one_file;
}

/* Ask for one picture after another. */
static void run_prompt(struct testing *t)
{
    char room[4096], *path = room;
    ddp_error err;

    set_files(t, &path, 1, 1);
    require(open_sinks(t, &err), &err);
    while (1) {
        printf("Enter Image Path: ");
        (void)fflush(stdout);
        if (!fgets(room, sizeof room, stdin))
            break;
        room[strcspn(room, "\n")] = '\0';
        require(ddp_predict_run_all(&t->run, &err), &err);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Take the pictures of train=, each once. */
static void set_train(struct testing *t)
{
    const char *list = ddp_sections_find(&t->data, "train");
    size_t count = 0;
    ddp_error err;

    if (!list)
        require(ddp_fail(&err, DDP_ERR_FORMAT, "%s has no train=", t->call->words[0]), &err);
    require(ddp_lines_read(&t->train, list, &err), &err);
    qsort(t->train.all, t->train.count, sizeof *t->train.all, by_text);
    for (size_t i = 0; i < t->train.count; i++)
        if (count == 0 || strcmp(t->train.all[count - 1], t->train.all[i]) != 0)
            t->train.all[count++] = t->train.all[i];
    set_files(t, t->train.all, count, 0);
}

static void run_files(struct testing *t)
{
    ddp_error err;

    if (t->is_suspects)
        set_train(t);
    else
        set_files(t, t->source.paths, t->source.count, t->source.is_one_file);
    require(open_sinks(t, &err), &err);
    require(ddp_predict_run_all(&t->run, &err), &err);
}

static void print_sum(const struct testing *t, double seconds)
{
    const ddp_predict_run *run = &t->run;
    size_t read = run->pictures - run->unreadable_count;

    if (run->pictures < 2 || t->is_suspects || ddp_group_rank(t->group) > 0)
        return;
    printf("%zu picture%s in %.1f seconds, %.1f a second; a forward pass takes %.1f ms", read,
           ddp_plural(read), seconds, (double)run->pictures / seconds,
           read ? 1000 * run->forward_s / (double)read : 0.0);
    if (!t->is_classifier)
        printf("; %zu box%s", run->boxes, run->boxes == 1 ? "" : "es");
    if (run->unreadable_count > 0)
        printf("; %zu cannot be read", run->unreadable_count);
    (void)putchar('\n');
}

static void close_all(struct testing *t)
{
    for (size_t i = 0; i < t->weights_count; i++) {
        ddp_predictor_close(t->run.predictors[i]);
        ddp_network_free(t->nets[i]);
    }
    ddp_source_release(&t->source);
    ddp_lines_release(&t->names);
    ddp_lines_release(&t->train);
    ddp_own_weights_release(&t->own);
    ddp_sections_release(&t->data);
    ddp_group_close(t->group);
    ddp_gpus_release(&t->gpus);
}

static int test(struct testing t)
{
    const ddp_command_call *call = t.call;
    int64_t began;
    ddp_error err;
    int asks = call->count == 3 && !t.is_suspects, failed;

    open_ranks(&t);
    if (asks && ddp_group_size(t.group) > 1)
        require(ddp_fail(&err, DDP_ERR_USAGE, "several ranks want pictures on the command line"),
                &err);
    if (!t.is_suspects)
        require(ddp_source_read(&t.source, call->words + 3, call->count - 3, &err), &err);
    require(choose_weights(&t, &err), &err);
    load_networks(&t);
    require(check_names(&t, &err), &err);
    open_predictors(&t);
    began = ddp_clock_ns();
    if (asks)
        run_prompt(&t);
    else
        run_files(&t);
    print_sum(&t, (double)(ddp_clock_ns() - began) / 1e9);
    require(ddp_predict_run_close(&t.run, &err), &err);
    failed = !asks && t.run.unreadable_count > 0;
    close_all(&t);
    return failed;
}

int ddp_command_test(const ddp_command_call *call)
{
    return test((struct testing){.call = call});
}

int ddp_command_demo(const ddp_command_call *call)
{
    ddp_error err;

    if (call->count == 3)
        require(ddp_fail(&err, DDP_ERR_USAGE,
                         "`detector demo` without a film shows what a camera sees, by OpenCV, "
                         "which this program is built without. It takes films: DATA CFG WEIGHTS "
                         "FILM; predict.md says how to read a camera in Python"),
                &err);
    return test((struct testing){.call = call});
}

int ddp_command_predict(const ddp_command_call *call)
{
    return test((struct testing){.call = call, .is_classifier = 1});
}

int ddp_command_suspects(const ddp_command_call *call)
{
    return test((struct testing){.call = call, .is_suspects = 1});
}
