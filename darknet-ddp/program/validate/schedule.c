#include "validate/schedule.h"

#include "base/clock.h"
#include "base/plural.h"
#include "core/agree.h"
#include "inputs/label_files.h"
#include "validate/best_figures.h"
#include "validate/valid_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* STEPS_APART: with fewer steps in an epoch, several epochs lie between two validations. */
enum { TOP = 5, STEPS_APART = 100 };

static const double least_score = 0.25; /* for precision, recall and average IoU */

struct ddp_validation {
    const ddp_options *options;
    ddp_group *group;
    ddp_valid_data from;
    size_t batch; /* images of a step */
    /* images between validations that no option sets; 0: only the last step has one */
    size_t apart;
    ddp_validation_result last;
    ddp_precision *each;
    int done;
    ddp_best_figures figures;
};

void ddp_validation_close(ddp_validation *v)
{
    if (!v)
        return;
    ddp_valid_data_release(&v->from);
    free(v->each);
    ddp_best_figures_release(&v->figures);
    free(v);
}

/* ---- opening ---- */

/* Prepare the result that validations fill. */
static ddp_status prepare_result(ddp_validation *v, ddp_error *err)
{
    const ddp_valid_data *from = &v->from;
    ddp_validation_result *r = &v->last;

    v->each = calloc((size_t)from->set.classes, sizeof *v->each);
    if (!v->each)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d classes", from->set.classes);
    r->each = v->each;
    r->classes = from->set.classes;
    r->top = ddp_sections_whole(&from->data, "top", TOP);
    r->names = from->names.count >= (size_t)from->set.classes ? from->names.all : NULL;
    r->name_count = from->names.count;
    return DDP_OK;
}

static ddp_status open_for(ddp_validation *v, const char *data, int *wanted, ddp_error *err)
{
    *wanted = 0;
    if (ddp_valid_data_read(&v->from, data, v->last.is_classifier, err))
        return err->code;
    *wanted = v->from.set.list != NULL;
    v->from.set.bf16 = v->options->predict_bf16;
    if (*wanted)
        return prepare_result(v, err);
    if (v->options->patience > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-patience %d counts validations: %s has no valid=, a list of pictures",
                        v->options->patience, data);
    if (v->options->validate > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_validate %d: %s has no valid=, a list of pictures",
                        v->options->validate, data);
    return DDP_OK;
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
    (void)snprintf(text, DDP_VALIDATION_LIST, "%zu pictures, hash %016" PRIx64, v->from.set.count,
                   ddp_valid_data_hash_paths(&v->from));
}

void ddp_validation_contents(const ddp_validation *v, char text[DDP_VALIDATION_LIST])
{
    (void)snprintf(text, DDP_VALIDATION_LIST, "%zu pictures, contents %016" PRIx64 "%s%s",
                   v->from.set.count, ddp_valid_data_hash_contents(&v->from),
                   v->options->points == 11 ? ", 11 points" : "",
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
    return ddp_same_data_agree(v->group, truth, v->from.set.paths, v->from.set.count, err);
}

/* Note which pictures of this rank have a label file. */
static void note_labels(const ddp_validation *v)
{
    size_t step = (size_t)ddp_group_size(v->group);

    for (size_t i = (size_t)ddp_group_rank(v->group); i < v->from.set.count; i += step)
        v->from.set.labelled[i] = (char)ddp_label_files_has(v->from.set.paths[i]);
}

ddp_status ddp_validation_find_labels(ddp_validation *v, ddp_error *err)
{
    int empty;

    if (!v || v->last.is_classifier)
        return DDP_OK;
    if (ddp_label_files_find(v->from.set.paths, v->from.set.count, v->options->labels_required,
                             &empty, err))
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
    printf("DDP: validates on %zu picture%s, and saves, after %sthe last step\n", v->from.set.count,
           ddp_plural(v->from.set.count), often);
}

void ddp_validation_plan(ddp_validation *v, size_t lines, size_t batch, int width, int height)
{
    if (!v)
        return;
    v->batch = batch;
    v->from.set.width = width;
    v->from.set.height = height;
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
    size_t read = v->from.set.count - r->unreadable;

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

    if (bad == 0 || (bad <= skipped && bad < v->from.set.count))
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_FORMAT,
                    "%zu picture%s of valid=%.300s cannot be read, or the labels (see above)%s",
                    bad, ddp_plural(bad), v->from.set.list,
                    skipped ? ", more than are to be skipped" : "");
}

ddp_status ddp_validation_check_detector(const ddp_validation *v, const network *net,
                                         ddp_error *err)
{
    return ddp_validate_check_detector(net, &v->from.set, err);
}

ddp_status ddp_validation_measure(ddp_validation *v, network *net,
                                  const ddp_validation_listener *listener, ddp_error *err)
{
    int64_t began = ddp_clock_ns();
    const ddp_precision_config config = {.classes = v->from.set.classes,
                                         .recalls = v->options->points == 11 ? DDP_RECALLS_VOC2007
                                                                             : DDP_RECALLS_COCO,
                                         .score = least_score};
    ddp_validation_result *r = &v->last;
    ddp_status st;

    if (v->from.set.bf16 && ddp_network_check_bf16(net, err))
        return err->code;
    st = r->is_classifier
             ? ddp_validate_classifier(&r->accuracy, &r->unreadable, v->group, net, &v->from.set,
                                       v->from.class_of, r->top, listener, err)
             : ddp_validate_detector(&r->all, v->each, &r->unreadable, v->group, net, &v->from.set,
                                     &config, listener, err);

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
    *count = v->from.set.count;
    return v->from.set.paths;
}

const ddp_validation_result *ddp_validation_kind(const ddp_validation *v)
{
    return v ? &v->last : NULL;
}

const char *ddp_validation_key(const ddp_validation *v, const char *key)
{
    return ddp_sections_find(&v->from.data, key);
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
