#include "glue/cfg.h"
#include "base/cfg_text.h"
#include "base/file.h"
#include "base/plural.h"
#include "bench/fit_run.h"
#include "cli/ask.h"
#include "cli/cfg_edit.h"
#include "cli/cfg_templates.h"
#include "cli/commands.h"
#include "cli/measure_run.h"
#include "core/batch.h"
#include "inputs/arguments.h"
#include "inputs/data_keys.h"
#include "inputs/text_file.h"
#include "show/output_file.h"
#include "show/rank_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VALUE = 1024,
    ANSWER = 1 << 14,
    NUMBER = 16,
    CLASSES = 80,
    CFG_BYTES = 1 << 20,
    CELL = 32 /* pixels of the largest cells of the cfgs that have a name here */
};

/* [yolo] with random=1 is trained at sizes of 320 to 608 where the cfg says 416: their mean area.
 * As much at other sizes. */
static const double random_sizes = 1.3;

static ddp_status no_memory(ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a cfg");
}

/* ---- what is written: a template, or a cfg that is there ---- */

static ddp_status of_template(char **text, const char *name, int classes, ddp_error *err)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    int known = out && ddp_template_write(out, name, classes ? classes : CLASSES);

    if (!out || fclose(out))
        return no_memory(err);
    if (!known)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "no cfg of the name %s is known; these are: %s; a path ends with .cfg%s",
                        name, ddp_template_names,
                        strncmp(name, "yolo", 4) == 0 ? ". Ultralytics' models (yolov5, yolov8, "
                                                        "yolo11, ...) have none"
                                                      : "");
    return DDP_OK;
}

static ddp_status of_file(char **text, const char *path, ddp_error *err)
{
    void *bytes = NULL;
    size_t size;
    uint64_t all;

    if (ddp_file_read(path, CFG_BYTES, &bytes, &size, &all, err))
        return err->code;
    *text = strndup(bytes, size);
    free(bytes);
    return *text ? DDP_OK : no_memory(err);
}

static int is_path(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".cfg") == 0;
}

/* *classes: what the .data file says; as it was: it does not. */
static ddp_status take_classes(int *classes, const char *path, const ddp_sections *data,
                               ddp_error *err)
{
    const ddp_cfg_line *line = ddp_sections_line(data, "classes");
    int given = *classes;

    if (!line)
        return DDP_OK;
    if (ddp_data_check_numbers(data, path, err))
        return err->code;
    *classes = ddp_cfg_whole(line, 0);
    if (given && given != *classes)
        return ddp_fail(err, DDP_ERR_USAGE, "-classes %d, but %s:%d: classes=%s", given, path,
                        line->number, line->value);
    return DDP_OK;
}

/* Set *classes to -classes, or to classes= of the .data file; 0: neither is given. */
static ddp_status find_classes(int *classes, const ddp_options *options, ddp_error *err)
{
    ddp_sections data = {0};
    ddp_status st = DDP_OK;

    *classes = options->classes;
    if (options->data) {
        st = ddp_data_read(&data, options->data, err);
        if (!st)
            st = take_classes(classes, options->data, &data, err);
        ddp_sections_release(&data);
    }
    return st;
}

/* ---- its values ---- */

static ddp_status change(char **text, const ddp_cfg_edit *edits, size_t count, ddp_error *err)
{
    char *edited = ddp_cfg_edited(*text, edits, count);

    if (!edited)
        return no_memory(err);
    free(*text);
    *text = edited;
    return DDP_OK;
}

static int keeps_aspect(const char *text)
{
    ddp_cfg_text cfg = {0};
    ddp_error ignored; /* no memory, which whatever comes next says */
    int keeps =
        !ddp_cfg_text_read(&cfg, text, strlen(text), &ignored) && ddp_cfg_keeps_aspect(&cfg);

    ddp_cfg_text_release(&cfg);
    return keeps;
}

/* Set *text to the anchors that Darknet's calc_anchors finds for the boxes of the .data file. */
static ddp_status fit_anchors(char **text, const char *data, ddp_error *err)
{
    char clusters[NUMBER], width[NUMBER], height[NUMBER];
    const char *args[] = {"darknet",
                          "detector",
                          "calc_anchors",
                          data,
                          "-num_of_clusters",
                          clusters,
                          "-width",
                          width,
                          "-height",
                          height,
                          keeps_aspect(*text) ? "-keep_aspect" : NULL,
                          NULL};
    static char answer[ANSWER];
    ddp_cfg_edit edit = {.section = "yolo", .key = "anchors"};
    char *found;

    if (!ddp_cfg_value_of(*text, "yolo", "num", clusters, sizeof clusters)
        || !ddp_cfg_value_of(*text, "net", "width", width, sizeof width)
        || !ddp_cfg_value_of(*text, "net", "height", height, sizeof height))
        return DDP_OK; /* no detector that has any */
    if (ddp_ask(args, answer, sizeof answer) != 0 || !(found = strstr(answer, "\nanchors=")))
        return ddp_fail(err, DDP_ERR_FORMAT, "no anchors from %s: %s", data,
                        ddp_ask_last_line(answer));
    edit.value = ddp_ask_last_line(found + strlen("\nanchors="));
    return change(text, &edit, 1, err);
}

static size_t pictures_of(const char *data)
{
    ddp_sections sections = {0};
    ddp_lines list = {0};
    const char *train;
    ddp_error ignored;
    size_t count = 0;

    if (!ddp_data_read(&sections, data, &ignored) && (train = ddp_sections_find(&sections, "train"))
        && !ddp_lines_read(&list, train, &ignored))
        count = list.count;
    ddp_lines_release(&list);
    ddp_sections_release(&sections);
    return count;
}

static void say_fit(const ddp_run_length *was, const ddp_run_length *is,
                    const ddp_measured_run *measured, double seconds_a_picture, size_t pictures,
                    double hours)
{
    const double fits = ddp_fit_count(hours * 3600, seconds_a_picture, is->batch);
    char all[32];

    ddp_duration(seconds_a_picture * was->batch * was->max_batches, all, sizeof all);
    (void)fprintf(stderr,
                  "a picture takes %.3g s to train on here (measured on %zu with %d rank%s), so "
                  "the %d steps of %d pictures of max_batches= and batch= would take %s\n",
                  seconds_a_picture, measured->pictures, measured->ranks,
                  ddp_plural((size_t)measured->ranks), was->max_batches, was->batch, all);
    (void)fprintf(stderr,
                  "what fits into %g hour%s, with a tenth for validation and saves: "
                  "max_batches=%d, batch=%d, subdivisions=%d, burn_in=%d",
                  hours, hours == 1 ? "" : "s", is->max_batches, is->batch, is->subdivisions,
                  is->burn_in);
    if (pictures > 0)
        (void)fprintf(stderr, "; each of the %zu pictures is trained on about %.3g times", pictures,
                      (double)is->max_batches * is->batch / (double)pictures);
    if (fits >= 1.1 * is->max_batches)
        (void)fprintf(stderr, "; %.0f steps would fit, so max_batches= may be larger", fits);
    (void)fprintf(stderr, "\n");
    if (is->max_batches < DDP_FEW_STEPS && is->max_batches < was->max_batches)
        (void)fprintf(stderr,
                      "%d steps are few: more hours, more ranks, or a smaller network, width and "
                      "height make them more\n",
                      is->max_batches);
}

static ddp_status write_length(char **text, const ddp_run_length *was, const ddp_run_length *is,
                               ddp_error *err)
{
    char batch[NUMBER], subdivisions[NUMBER], max_batches[NUMBER], burn_in[NUMBER];
    char steps[VALUE], fitted[VALUE];
    int has_steps = ddp_cfg_value_of(*text, "net", "steps", steps, sizeof steps);
    const ddp_cfg_edit edits[] = {{"net", "batch", batch},
                                  {"net", "subdivisions", subdivisions},
                                  {"net", "max_batches", max_batches},
                                  {"net", "burn_in", was->burn_in ? burn_in : NULL},
                                  {"net", "steps", has_steps ? fitted : NULL}};

    (void)snprintf(batch, sizeof batch, "%d", is->batch);
    (void)snprintf(subdivisions, sizeof subdivisions, "%d", is->subdivisions);
    (void)snprintf(max_batches, sizeof max_batches, "%d", is->max_batches);
    (void)snprintf(burn_in, sizeof burn_in, "%d", is->burn_in);
    if (has_steps)
        ddp_fit_steps(steps, was->max_batches, is->max_batches, fitted, sizeof fitted);
    return change(text, edits, sizeof edits / sizeof *edits, err);
}

static ddp_status fit_hours(char **text, const ddp_options *options, ddp_error *err)
{
    const ddp_run_length was = {.batch = ddp_cfg_number_of(*text, "net", "batch", 1),
                                .subdivisions = ddp_cfg_number_of(*text, "net", "subdivisions", 1),
                                .max_batches = ddp_cfg_number_of(*text, "net", "max_batches", 0),
                                .burn_in = ddp_cfg_number_of(*text, "net", "burn_in", 0)};
    const int ranks = options->ranks > 0 ? options->ranks : 1;
    char random[NUMBER];
    ddp_batch cut;
    ddp_measured_run measured;
    ddp_run_length is;
    double seconds;

    if (was.batch < 1 || was.subdivisions < 1 || was.max_batches < 1)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "-hours wants a cfg whose [net] has batch, subdivisions and max_batches");
    if (ddp_batch_split(&cut, was.batch, was.subdivisions, ranks, DDP_BATCH_GLOBAL, NULL, err))
        return err->code;
    (void)fprintf(stderr, "training for some seconds, to see how long a step takes\n");
    if (ddp_measure_run(&measured, options->data, *text, ranks, err))
        return err->code;
    seconds = measured.seconds_a_picture;
    if (ddp_cfg_value_of(*text, "yolo", "random", random, sizeof random)
        && strcmp(random, "0") != 0)
        seconds *= random_sizes;
    is = ddp_fit_run(was, options->hours * 3600, seconds, ranks);
    if (is.max_batches < 1)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-hours %g: a picture takes %.3g s, so not one step of batch=%d fits: a "
                        "smaller network or width and height, or more ranks",
                        options->hours, seconds, is.batch);
    say_fit(&was, &is, &measured, seconds, pictures_of(options->data), options->hours);
    return write_length(text, &was, &is, err);
}

/* Put the values of -width, -height and the like into the text of the cfg. */
static ddp_status take_values(char **text, const ddp_options *o, ddp_error *err)
{
    const struct {
        const char *key;
        int value; /* 0: not given */
    } given[] = {{"width", o->net_width},
                 {"height", o->net_height},
                 {"batch", o->cfg_batch},
                 {"subdivisions", o->subdivisions}};

    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        char number[NUMBER];
        const ddp_cfg_edit edit = {"net", given[i].key, number};

        (void)snprintf(number, sizeof number, "%d", given[i].value);
        if (given[i].value > 0 && change(text, &edit, 1, err))
            return err->code;
    }
    return DDP_OK;
}

/* In a cfg that is there. */
static ddp_status set_classes(char **text, const char *path, int classes,
                              const ddp_options *options, ddp_error *err)
{
    int heads;
    char *edited = ddp_cfg_with_classes(*text, classes, &heads);

    if (!edited)
        return no_memory(err);
    free(*text);
    *text = edited;
    if (heads == 0 && options->classes)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-classes %d: %s has no [yolo] and no [region], whose classes it would be",
                        classes, path);
    return DDP_OK;
}

/* Fail if an option is given that would have no effect. */
static ddp_status check_options(const ddp_options *o, ddp_error *err)
{
    if (o->epochs || o->learning_rate > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s is for training; `darknet ddp cfg` writes -width, -height, -batch and "
                        "-subdivisions, and with -hours max_batches=",
                        o->epochs ? "-epochs" : "-learning_rate");
    return DDP_OK;
}

static int mini_batch_of(const char *text)
{
    int batch = ddp_cfg_number_of(text, "net", "batch", 1),
        subdivisions = ddp_cfg_number_of(text, "net", "subdivisions", 1);

    return subdivisions > 0 && batch >= subdivisions ? batch / subdivisions : 1;
}

/* With -batch alone mini-batches stay as large as they were in the cfg, or nearly. */
static ddp_status fit_subdivisions(char **text, const ddp_options *o, int mini_batch,
                                   ddp_error *err)
{
    int batch = ddp_cfg_number_of(*text, "net", "batch", 1),
        subdivisions = ddp_cfg_number_of(*text, "net", "subdivisions", 1);
    char number[NUMBER];
    const ddp_cfg_edit edit = {"net", "subdivisions", number};

    if (batch < 1 || subdivisions < 1)
        return DDP_OK;
    if (o->cfg_batch && !o->subdivisions) {
        while (batch % mini_batch)
            mini_batch--;
        (void)snprintf(number, sizeof number, "%d", batch / mini_batch);
        return change(text, &edit, 1, err);
    }
    if (batch % subdivisions == 0)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "batch=%d is not cut into subdivisions=%d mini-batches of one size", batch,
                    subdivisions);
}

/* Sizes that the cells of a detector do not divide, of the cfgs whose cells are known. */
static ddp_status check_size(const char *name, const ddp_options *o, ddp_error *err)
{
    int odd = o->net_width % CELL ? o->net_width : o->net_height % CELL ? o->net_height : 0;

    if (!odd || is_path(name))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%s %d is no multiple of %d, the size of the largest cells of %s: %d?",
                    o->net_width % CELL ? "-width" : "-height", odd, CELL, name,
                    (odd + CELL - 1) / CELL * CELL);
}

/* ---- the command ---- */

static ddp_status make(char **text, const char *name, const ddp_options *options, ddp_error *err)
{
    const ddp_arguments words = {.data = options->data, .cfg = is_path(name) ? name : NULL};
    int classes, mini_batch;

    if (check_options(options, err) || check_size(name, options, err)
        || ddp_arguments_check_places(&words, err))
        return err->code;
    if (options->hours > 0 && !options->data)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-hours wants -data X.data: a step is measured on its pictures");
    if (find_classes(&classes, options, err))
        return err->code;
    if (classes == 0 && options->data && !is_path(name))
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s has no classes=, the number of classes; -classes N says it, too",
                        options->data);
    if (is_path(name) ? of_file(text, name, err) : of_template(text, name, classes, err))
        return err->code;
    mini_batch = mini_batch_of(*text);
    if (take_values(text, options, err) || fit_subdivisions(text, options, mini_batch, err)
        || (is_path(name) && classes > 0 && set_classes(text, name, classes, options, err)))
        return err->code;
    if (options->data && fit_anchors(text, options->data, err))
        return err->code;
    return options->hours > 0 ? fit_hours(text, options, err) : DDP_OK;
}

int ddp_command_cfg(const ddp_command_call *call)
{
    const char *path = call->options->out;
    char *text = NULL;
    ddp_error err;
    FILE *out;

    if (make(&text, call->words[0], call->options, &err))
        ddp_rank_output_failure(&err);
    out = ddp_output_file_open(path);
    (void)fputs(text, out ? out : stdout);
    ddp_output_file_close(out, path);
    free(text);
    return 0;
}
