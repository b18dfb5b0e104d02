#include "validate/schedule.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/plural.h"
#include "check/lists.h"
#include "core/agree.h"
#include "inputs/label_files.h"
#include "inputs/text_file.h"
#include "samples/transforms.h"
#include "validate/best_figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* STEPS_APART: with fewer steps in an epoch, several epochs lie between two validations. */
enum { TOP = 5, STEPS_APART = 100 };

static const double least_score = 0.25; /* for precision, recall and average IoU */

struct ddp_validation {
    const ddp_options *options;
    ddp_group *group;
    ddp_sections data;
    ddp_lines list, names;
    ddp_validation_set set;
    int *class_of; /* class of each picture, a classifier's */
    size_t batch;  /* images of a step */
    size_t
        apart; /* images between validations that no option sets; 0: only the last step has one */
    ddp_validation_result last;
    ddp_precision *each;
    int done;
    ddp_best_figures figures;
};

void ddp_validation_close(ddp_validation *v)
{
    if (!v)
        return;
    ddp_sections_release(&v->data);
    ddp_lines_release(&v->list);
    ddp_lines_release(&v->names);
    free(v->class_of);
    free(v->each);
    ddp_best_figures_release(&v->figures);
    free(v->set.map);
    free(v->set.reported);
    free(v->set.labelled);
    free(v);
}

/* ---- opening ---- */

/* Find a picture's class: first in the file's name, as the loader does. */
static int find_class(const ddp_validation *v, const char *path)
{
    const char *const places[] = {ddp_path_name(path), path};

    for (int p = 0; p < 2; p++)
        for (int c = 0; c < v->set.classes; c++)
            if (strstr(places[p], v->names.all[c]))
                return c;
    return -1;
}

static ddp_status find_classes(ddp_validation *v, ddp_error *err)
{
    const char *labels = ddp_sections_find(&v->data, "labels");

    if (!labels)
        return ddp_fail(
            err, DDP_ERR_FORMAT,
            "no labels= in the .data file: a classifier wants it, a file with the names "
            "of its %d classes",
            v->set.classes);
    if (v->names.count < (size_t)v->set.classes)
        return ddp_fail(err, DDP_ERR_FORMAT, "labels=%.300s has %zu names for classes=%d", labels,
                        v->names.count, v->set.classes);
    v->class_of = calloc(v->set.count + 1, sizeof *v->class_of);
    if (!v->class_of)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu classes", v->set.count);
    for (size_t i = 0; i < v->set.count; i++) {
        v->class_of[i] = find_class(v, v->set.paths[i]);
        if (v->class_of[i] < 0)
            return ddp_fail(err, DDP_ERR_FORMAT,
                            "%.200s:%zu: no class of %.100s%s has a name that stands in %.250s",
                            ddp_sections_find(&v->data, "valid"), v->list.numbers[i], labels,
                            ddp_ends_with_blank(v->names.all[0]) ? ", whose names end with blanks,"
                                                                 : "",
                            v->set.paths[i]);
    }
    return DDP_OK;
}

static ddp_status read_names(ddp_validation *v, ddp_error *err)
{
    const char *path = ddp_sections_find(&v->data, v->last.is_classifier ? "labels" : "names");

    if (path && ddp_names_read(&v->names, path, err))
        return err->code;
    if (v->names.count >= (size_t)v->set.classes)
        v->last.names = v->names.all;
    v->last.name_count = v->names.count;
    return v->last.is_classifier ? find_classes(v, err) : DDP_OK;
}

static ddp_status read_data(ddp_validation *v, const char *valid, ddp_error *err)
{
    const char *classes = ddp_sections_find(&v->data, "classes");
    const char *map = v->last.is_classifier ? NULL : ddp_sections_find(&v->data, "map");

    if (ddp_lines_read(&v->list, valid, err))
        return ddp_wrap(err, "valid=");
    v->set = (ddp_validation_set){.paths = v->list.all,
                                  .count = v->list.count,
                                  .list = valid,
                                  .lines = v->list.numbers,
                                  .labelled = calloc(v->list.count + 1, 1),
                                  .reported = calloc(v->list.count + 1, 1),
                                  .classes = ddp_sections_whole(&v->data, "classes", 20),
                                  .bf16 = v->options->predict_bf16,
                                  .map = map ? ddp_map_read(map) : NULL};
    if (v->set.count == 0)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "valid=%s: no picture is listed there, a path in each line", valid);
    if (v->set.classes < 1)
        return ddp_fail(err, DDP_ERR_FORMAT, "classes=%s: there is nothing to validate", classes);
    v->last.top = ddp_sections_whole(&v->data, "top", TOP);
    v->each = calloc((size_t)v->set.classes, sizeof *v->each);
    if (!v->each || !v->set.reported || !v->set.labelled)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d classes and %zu pictures",
                        v->set.classes, v->set.count);
    v->last.each = v->each;
    v->last.classes = v->set.classes;
    return read_names(v, err);
}

static ddp_status open_for(ddp_validation *v, const char *data, int *wanted, ddp_error *err)
{
    const char *valid;

    *wanted = 0;
    if (ddp_data_read(&v->data, data, err))
        return err->code;
    valid = ddp_sections_find(&v->data, "valid");
    if (!valid && v->options->patience > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-patience %d counts validations: %s has no valid=, a list of pictures",
                        v->options->patience, data);
    if (!valid && v->options->validate > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_validate %d: %s has no valid=, a list of pictures",
                        v->options->validate, data);
    if (!valid)
        return DDP_OK;
    *wanted = 1;
    return read_data(v, valid, err);
}

ddp_status ddp_validation_open(ddp_validation **out, const ddp_options *options, ddp_group *group,
                               const char *command, const char *data, ddp_error *err)
{
    int is_classifier = strcmp(command, "classifier") == 0, wanted;
    ddp_validation *v;
    ddp_status st;

    *out = NULL;
    if (options->validate == 0 && options->patience > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-patience %d counts validations, and with -ddp_validate 0 there are none",
                        options->patience);
    if (is_classifier && options->best == DDP_BEST_MAP50)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-best map50 is for detectors: the best of a classifier is by top-1");
    if (is_classifier && (options->points == 11 || options->labels_required))
        return ddp_fail(err, DDP_ERR_USAGE, "%s is for detectors: a classifier has no boxes",
                        options->labels_required ? "-labels_required" : "-points 11");
    if (options->validate == 0 || (!is_classifier && strcmp(command, "detector") != 0))
        return DDP_OK;
    v = calloc(1, sizeof *v);
    if (!v)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for validation");
    v->options = options;
    v->group = group;
    v->last.is_classifier = is_classifier;
    st = open_for(v, data, &wanted, err);
    if (st || !wanted) {
        ddp_validation_close(v);
        return st;
    }
    *out = v;
    return DDP_OK;
}

void ddp_validation_list(const ddp_validation *v, char text[DDP_VALIDATION_LIST])
{
    uint64_t hash = 0;

    for (size_t i = 0; i < v->set.count; i++)
        hash = XXH3_64bits_withSeed(v->set.paths[i], strlen(v->set.paths[i]) + 1, hash);
    (void)snprintf(text, DDP_VALIDATION_LIST, "%zu pictures, hash %016" PRIx64, v->set.count, hash);
}

/* Return a hash of a picture's truth: a detector's label file, a classifier's class. */
static uint64_t hash_of_truth(const ddp_validation *v, size_t i)
{
    char path[DDP_LABEL_PATH_BYTES];
    uint64_t size, hash = 0;
    ddp_error ignored;
    size_t bytes;
    void *data;

    if (v->class_of)
        return (uint64_t)v->class_of[i];
    ddp_label_path(v->set.paths[i], path);
    if (ddp_file_read(path, SIZE_MAX, &data, &bytes, &size, &ignored) == DDP_OK) {
        hash = XXH3_64bits(data, bytes);
        free(data);
    }
    return hash;
}

void ddp_validation_contents(const ddp_validation *v, char text[DDP_VALIDATION_LIST])
{
    uint64_t sum = 0;

    for (size_t i = 0; i < v->set.count; i++) {
        const char *name = ddp_path_name(v->set.paths[i]);

        sum += XXH3_64bits_withSeed(name, strlen(name), hash_of_truth(v, i));
    }
    (void)snprintf(text, DDP_VALIDATION_LIST, "%zu pictures, contents %016" PRIx64 "%s%s",
                   v->set.count, sum, v->options->points == 11 ? ", 11 points" : "",
                   v->options->best == DDP_BEST_MAP50 ? ", map50" : "");
}

ddp_status ddp_validation_agree(const ddp_validation *v, ddp_truth_files truth, ddp_error *err)
{
    char list[DDP_VALIDATION_LIST], text[96];

    if (!v)
        return DDP_OK;
    ddp_validation_list(v, list);
    (void)snprintf(text, sizeof text, "to validate on: %s", list);
    if (ddp_agree(v->group, text, err))
        return err->code;
    return ddp_same_data_agree(v->group, truth, v->set.paths, v->set.count, err);
}

/* Note which pictures of this rank have a label file. */
static void note_labels(const ddp_validation *v)
{
    size_t step = (size_t)ddp_group_size(v->group);

    for (size_t i = (size_t)ddp_group_rank(v->group); i < v->set.count; i += step)
        v->set.labelled[i] = (char)ddp_label_files_has(v->set.paths[i]);
}

ddp_status ddp_validation_find_labels(ddp_validation *v, ddp_error *err)
{
    int empty;

    if (!v || v->last.is_classifier)
        return DDP_OK;
    if (ddp_label_files_find(v->set.paths, v->set.count, v->options->labels_required, &empty, err))
        return ddp_wrap(err, "valid=%s", ddp_validation_key(v, "valid"));
    if (empty && ddp_group_rank(v->group) == 0)
        printf("DDP: no picture of valid=%s has a box: a validation measures nothing there\n",
               ddp_validation_key(v, "valid"));
    note_labels(v);
    return DDP_OK;
}

static void print_when(const ddp_validation *v, size_t lines)
{
    size_t epochs = lines > 0 ? v->apart / lines : 0;
    char often[96] = "";

    if (v->options->validate > 0)
        (void)snprintf(often, sizeof often, "every %d step%s and ", v->options->validate,
                       ddp_plural((size_t)v->options->validate));
    else if (epochs > 1)
        (void)snprintf(often, sizeof often, "every %zu epochs (%.10g steps) and ", epochs,
                       (double)v->apart / (double)v->batch);
    else if (epochs == 1)
        (void)snprintf(often, sizeof often, "each epoch (%.10g steps) and ",
                       (double)v->apart / (double)v->batch);
    printf("DDP: validates on %zu picture%s, and saves, after %sthe last step\n", v->set.count,
           ddp_plural(v->set.count), often);
}

void ddp_validation_plan(ddp_validation *v, size_t lines, size_t batch, int width, int height)
{
    if (!v)
        return;
    v->batch = batch;
    v->set.width = width;
    v->set.height = height;
    v->apart = lines;
    if (lines > 0 && lines < STEPS_APART * batch)
        v->apart = (STEPS_APART * batch + lines - 1) / lines * lines;
    if (ddp_group_rank(v->group) == 0)
        print_when(v, lines);
}

int ddp_validation_due(const ddp_validation *v, const ddp_train_position *now)
{
    if (!v || now->step == 0)
        return 0;
    if (now->step == now->last_step)
        return 1;
    if (v->options->validate > 0)
        return now->step % (size_t)v->options->validate == 0;
    if (v->apart == 0 || now->images < v->batch)
        return 0;
    return now->images / v->apart > (now->images - v->batch) / v->apart;
}

/* ---- validating ---- */

static void print_detector(const ddp_validation_result *r)
{
    const ddp_precision *p = &r->all;

    printf("mAP@0.5 %.4f, mAP@0.5:0.95 %.4f, precision %.3f, recall %.3f, average IoU %.3f",
           p->ap50, p->ap, p->precision, p->recall, p->mean_iou);
}

void ddp_validation_say_left_out(const ddp_validation_result *r)
{
    if (r->unreadable > 0)
        printf("%zu picture%s cannot be read, or the labels, and %s left out\n", r->unreadable,
               ddp_plural(r->unreadable), r->unreadable == 1 ? "is" : "are");
    if (r->all.left_out > 0)
        printf("%zu box%s not finite and left out: the weights give numbers that are too large\n",
               r->all.left_out, r->all.left_out == 1 ? " is" : "es are");
}

static void print_result(const ddp_validation *v, const ddp_train_position *now, int best)
{
    const ddp_validation_result *r = &v->last;
    size_t read = v->set.count - r->unreadable;

    printf("Validation after step %zu: ", now->step);
    if (r->is_classifier)
        printf("top-1 %.4f, top-%d %.4f, loss %.4f", r->accuracy.top1, v->last.top,
               r->accuracy.topk, r->accuracy.loss);
    else
        print_detector(r);
    printf("; %zu picture%s, %.1f s", read, ddp_plural(read), r->seconds);
    if (best)
        printf("; the best so far\n");
    else
        printf("; the best was %.4f after step %zu\n", v->figures.best.figure,
               v->figures.best.step);
    ddp_validation_say_left_out(r);
    (void)fflush(stdout);
}

static double key_of(const ddp_validation_result *r, int key)
{
    if (r->is_classifier)
        return r->accuracy.top1;
    return key == DDP_BEST_MAP50 ? r->all.ap50 : r->all.ap;
}

/* Check that enough pictures could be read. */
static ddp_status check_unreadable(const ddp_validation *v, ddp_error *err)
{
    size_t bad = v->last.unreadable, skipped = (size_t)v->options->on_bad_data;

    if (bad == 0 || (bad <= skipped && bad < v->set.count))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_FORMAT,
                    "%zu picture%s of valid=%.300s cannot be read, or the labels (see above)%s",
                    bad, ddp_plural(bad), v->set.list,
                    skipped ? ", more than are to be skipped" : "");
}

ddp_status ddp_validation_check_detector(const ddp_validation *v, const network *net,
                                         ddp_error *err)
{
    return ddp_validate_check_detector(net, &v->set, err);
}

ddp_status ddp_validation_measure(ddp_validation *v, network *net,
                                  const ddp_validation_listener *listener, ddp_error *err)
{
    int64_t began = ddp_clock_ns();
    const ddp_precision_config config = {.classes = v->set.classes,
                                         .recalls = v->options->points == 11 ? DDP_RECALLS_VOC2007
                                                                             : DDP_RECALLS_COCO,
                                         .score = least_score};
    ddp_validation_result *r = &v->last;
    ddp_status st;

    if (v->set.bf16 && ddp_network_check_bf16(net, err))
        return err->code;
    st = r->is_classifier ? ddp_validate_classifier(&r->accuracy, &r->unreadable, v->group, net,
                                                    &v->set, v->class_of, r->top, listener, err)
                          : ddp_validate_detector(&r->all, v->each, &r->unreadable, v->group, net,
                                                  &v->set, &config, listener, err);

    if (st)
        return ddp_wrap(err, "validation");
    if (check_unreadable(v, err))
        return err->code;
    r->seconds = (double)(ddp_clock_ns() - began) / 1e9;
    r->key = (float)key_of(r, v->options->best); /* as a table keeps it */
    v->done = 1;
    return DDP_OK;
}

void ddp_validation_add_earlier(ddp_validation *v, size_t step, double key)
{
    (void)ddp_best_figures_add(&v->figures, step, key);
}

int ddp_validation_go_back(ddp_validation *v, size_t step)
{
    return ddp_best_figures_go_back(&v->figures, step);
}

ddp_status ddp_validation_share_best(ddp_validation *v, ddp_error *err)
{
    return v ? ddp_best_figures_share(&v->figures, v->group, err) : DDP_OK;
}

int ddp_validation_judge(ddp_validation *v, const ddp_train_position *now, int *stop)
{
    int best = ddp_best_figures_add(&v->figures, now->step, v->last.key);
    int since = ddp_best_figures_since(&v->figures);
    int ends = v->options->patience > 0 && since >= v->options->patience
               && (now->last_step == 0 || now->step < now->last_step);

    *stop = ends ? since : 0;
    if (ddp_group_rank(v->group) == 0)
        print_result(v, now, best);
    return best;
}

char *const *ddp_validation_pictures(const ddp_validation *v, size_t *count)
{
    *count = v->set.count;
    return v->set.paths;
}

const ddp_validation_result *ddp_validation_kind(const ddp_validation *v)
{
    return v ? &v->last : NULL;
}

const char *ddp_validation_key(const ddp_validation *v, const char *key)
{
    return ddp_sections_find(&v->data, key);
}

const ddp_validation_result *ddp_validation_last(const ddp_validation *v)
{
    return v && v->done ? &v->last : NULL;
}

int ddp_validation_best(const ddp_validation *v, const char **name, double *figure, size_t *step)
{
    if (!v || v->figures.best.step == 0)
        return 0;
    *name = v->last.is_classifier                ? "top-1"
            : v->options->best == DDP_BEST_MAP50 ? "mAP@0.5"
                                                 : "mAP@0.5:0.95";
    *figure = v->figures.best.figure;
    *step = v->figures.best.step;
    return 1;
}
