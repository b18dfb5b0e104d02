#include "glue/validate_share.h"

#include "check/label.h"
#include "comm/collectives.h"
#include "glue/find_boxes.h"
#include "samples/transforms.h"

#include <darknet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rules of Darknet's `detector valid`: boxes of this score or less do not count, and of two boxes
 * of a class that overlap by more than most_overlap the less likely one goes. hierarchy_score is
 * ddp_find_rules.hierarchy. */
static const float least_score = .005f, most_overlap = .45f, hierarchy_score = .5f;

ddp_status ddp_validate_check_detector(const network *net, const ddp_validation_set *set,
                                       ddp_error *err)
{
    int classes = ddp_find_classes(net);

    if (classes == 0)
        return ddp_fail(err, DDP_ERR_USAGE, "the cfg has no [yolo], [region] or [detection]");
    /* By map= a few of the network's classes count. */
    if (set->map ? set->classes > classes : set->classes != classes)
        return ddp_fail(err, DDP_ERR_USAGE, "classes=%d in the .data file, and the cfg has %d",
                        set->classes, classes);
    return DDP_OK;
}

/* ---- what a rank finds ---- */

struct boxes {
    ddp_detection *found;
    ddp_truth *truths;
    size_t found_count, truth_count, found_room, truth_room;
    uint64_t left_out; /* found, but not finite */
    uint32_t picture;
    int failed; /* there was no memory */
};

static void release(struct boxes *b)
{
    free(b->found);
    free(b->truths);
}

/* The place of one more of size bytes behind count of them; NULL: no memory. */
static void *one_more(void **array, size_t *count, size_t *room, size_t size)
{
    if (*count == *room) {
        size_t more = *room ? 2 * *room : 256;
        void *grown = realloc(*array, more * size);

        if (!grown)
            return NULL;
        *array = grown;
        *room = more;
    }
    return (char *)*array + (*count)++ * size;
}

static void add_truth(void *ctx, const ddp_label_box *box)
{
    struct boxes *b = ctx;
    ddp_truth *t =
        one_more((void **)&b->truths, &b->truth_count, &b->truth_room, sizeof *b->truths);

    if (!t) {
        b->failed = 1;
        return;
    }
    *t = (ddp_truth){.picture = b->picture,
                     .class_id = box->class_id,
                     .box = {.left = (double)box->x - (double)box->w / 2,
                             .top = (double)box->y - (double)box->h / 2,
                             .width = (double)box->w,
                             .height = (double)box->h}};
}

static void add_found(void *ctx, const ddp_detection *found)
{
    struct boxes *b = ctx;
    ddp_detection *f =
        one_more((void **)&b->found, &b->found_count, &b->found_room, sizeof *b->found);

    if (!f) {
        b->failed = 1;
        return;
    }
    *f = *found;
    f->picture = b->picture;
}

static void detect(struct boxes *b, const ddp_picture_share *s, inference_plan *plan,
                   const ddp_picture *p)
{
    const ddp_find_rules rules = {.least = least_score,
                                  .hierarchy = hierarchy_score,
                                  .overlap = most_overlap,
                                  .classes = s->set->classes,
                                  .map = s->set->map};

    (void)inference_predict(plan, s->net, p->fitted.data);
    b->left_out += ddp_find_boxes(s->net, p->whole.w, p->whole.h, &rules, add_found, b);
}

struct first_error {
    char *text;
    size_t room;
};

static void keep_first(void *ctx, const ddp_fault *fault)
{
    struct first_error *first = ctx;

    if (!*first->text && fault->level == DDP_FAULT_ERROR)
        (void)snprintf(first->text, first->room, "%s:%d: %s", fault->file, fault->line,
                       fault->text);
}

/* The file may be missing, if it was when the run began, and must be right: else why is set. */
static void read_truth(struct boxes *b, const ddp_validation_set *set, size_t i, char *why,
                       size_t room)
{
    const ddp_label_rules rules = {.classes = set->classes};
    struct first_error first = {why, room};
    ddp_faults faults = {0};
    char path[4096];
    ddp_label_file kind;

    ddp_label_path(set->paths[i], path);
    (void)ddp_check_label(&faults, path, &rules, &kind, add_truth, b);
    ddp_faults_each(&faults, keep_first, &first);
    ddp_faults_release(&faults);
    if (kind == DDP_LABEL_NONE && set->labelled[i])
        (void)snprintf(why, room,
                       "%.900s: this label file was there when the run began, and is gone", path);
}

static void measure_boxes(void *ctx, const ddp_picture_share *s, inference_plan *plan, size_t i,
                          ddp_picture *picture)
{
    struct boxes *b = ctx;
    size_t truths = b->truth_count;

    b->picture = (uint32_t)i;
    read_truth(b, s->set, i, picture->why, sizeof picture->why);
    if (picture->why[0])
        b->truth_count = truths;
    else
        detect(b, s, plan, picture);
}

/* ---- all ranks' ---- */

/* Replace an array of *count elements, each of `size` bytes, by those of all ranks. */
static ddp_status gather(ddp_group *group, void **array, size_t *count, size_t size, ddp_error *err)
{
    void *all;
    size_t bytes;
    ddp_status st = ddp_concatenate(group, *array, *count * size, &all, &bytes, err);

    free(*array);
    *array = all;
    *count = bytes / size;
    return st;
}

/* Gather what all ranks have found, and compute the figures from it. */
static ddp_status judge_boxes(ddp_precision *all, ddp_precision *each, ddp_group *group,
                              struct boxes *b, const ddp_precision_config *config,
                              const ddp_validation_listener *listener, ddp_error *err)
{
    if (gather(group, (void **)&b->found, &b->found_count, sizeof *b->found, err)
        || gather(group, (void **)&b->truths, &b->truth_count, sizeof *b->truths, err)
        || ddp_sum_counts(group, &b->left_out, 1, err)
        || ddp_precision_of(all, each, config, b->found, b->found_count, b->truths, b->truth_count,
                            err))
        return err->code;
    all->left_out = b->left_out;
    if (listener && listener->found && ddp_group_rank(group) == 0)
        listener->found(listener->ctx, b->found, b->found_count, b->truths, b->truth_count);
    return DDP_OK;
}

ddp_status ddp_validate_detector(ddp_precision *all, ddp_precision *each, size_t *unreadable,
                                 ddp_group *group, network *net, const ddp_validation_set *set,
                                 const ddp_precision_config *config,
                                 const ddp_validation_listener *listener, ddp_error *err)
{
    struct boxes b = {0};
    const ddp_picture_share share = {group, net, set, listener, fit_image, measure_boxes, &b};
    ddp_status st = DDP_OK;
    uint64_t count;

    if (ddp_validate_check_detector(net, set, err))
        return err->code;
    count = ddp_picture_share_measure(&share);
    if (b.failed)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu detections", b.found_count);
    else
        st = ddp_sum_counts(group, &count, 1, err);
    *unreadable = count;
    if (!st)
        st = judge_boxes(all, each, group, &b, config, listener, err);
    release(&b);
    return st;
}
