#include "show/page_pictures.h"

#include "base/path.h"
#include "eval/confusion.h"
#include "samples/thumbnail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pictures, pixels of their longer side, boxes in one, and the most classes of a matrix. */
enum { PICTURES = 8, PIXELS = 320, BOXES = 60, CLASSES = 40, NAME = 16 };

static const double least_score = 0.25;

struct picture {
    uint32_t number; /* line of the list, from 0 */
    ddp_thumbnail thumbnail;
    ddp_page_box boxes[BOXES];
    size_t box_count;
};

struct ddp_page_pictures {
    char *const *paths;
    const ddp_validation_result *kind;
    const char **names; /* names of the classes, then "nothing" */
    char (*numbers)[NAME];
    double *counts; /* NULL: too many classes */
    int taken;      /* 1: there was a validation */
    struct picture pictures[PICTURES];
    ddp_page_picture shown[PICTURES];
    size_t picture_count, shown_count;
};

void ddp_page_pictures_close(ddp_page_pictures *views)
{
    if (!views)
        return;
    for (size_t i = 0; i < views->picture_count; i++)
        free(views->pictures[i].thumbnail.bytes);
    free(views->numbers);
    free(views->names);
    free(views->counts);
    free(views);
}

static void name_classes(ddp_page_pictures *views)
{
    const ddp_validation_result *kind = views->kind;

    for (int c = 0; c < kind->classes; c++) {
        (void)snprintf(views->numbers[c], NAME, "%d", c);
        views->names[c] = kind->names ? kind->names[c] : views->numbers[c];
    }
    views->names[kind->classes] = "nothing";
}

/* Choose pictures evenly from the whole list. */
static void choose_pictures(ddp_page_pictures *views, size_t count)
{
    views->picture_count = count < PICTURES ? count : PICTURES;
    for (size_t i = 0; i < views->picture_count; i++)
        views->pictures[i].number = (uint32_t)(i * count / views->picture_count);
}

ddp_status ddp_page_pictures_open(ddp_page_pictures **out, const ddp_validation *v, ddp_error *err)
{
    const ddp_validation_result *kind = ddp_validation_kind(v);
    ddp_page_pictures *views;
    size_t side, count;

    *out = NULL;
    if (!kind || kind->is_classifier)
        return DDP_OK;
    side = (size_t)kind->classes + 1;
    views = calloc(1, sizeof *views);
    if (views) {
        views->kind = kind;
        views->names = calloc(side, sizeof *views->names);
        views->numbers = calloc(side, sizeof *views->numbers);
        if (kind->classes <= CLASSES)
            views->counts = calloc(side * side, sizeof *views->counts);
    }
    if (!views || !views->names || !views->numbers
        || (kind->classes <= CLASSES && !views->counts)) {
        ddp_page_pictures_close(views);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a view of %d classes", kind->classes);
    }
    name_classes(views);
    views->paths = ddp_validation_pictures(v, &count);
    choose_pictures(views, count);
    *out = views;
    return DDP_OK;
}

/* ---- taking ---- */

static struct picture *find(ddp_page_pictures *views, uint32_t number)
{
    for (size_t i = 0; i < views->picture_count; i++)
        if (views->pictures[i].number == number)
            return &views->pictures[i];
    return NULL;
}

/* Add a box to its picture, if that is shown, without what lies outside of the picture. */
static void add_box(ddp_page_pictures *views, uint32_t picture, int class_id, const ddp_box *box,
                    int found, double score)
{
    struct picture *p = find(views, picture);
    double left = fmax(0, box->left), top = fmax(0, box->top);

    if (!p || p->box_count == BOXES || class_id < 0 || class_id >= views->kind->classes)
        return;
    p->boxes[p->box_count++] =
        (ddp_page_box){.left = left,
                       .top = top,
                       .width = fmax(0, fmin(1, box->left + box->width) - left),
                       .height = fmax(0, fmin(1, box->top + box->height) - top),
                       .found = found,
                       .name = views->names[class_id],
                       .score = score};
}

static void take_pictures(ddp_page_pictures *views)
{
    for (size_t i = 0; i < views->picture_count; i++) {
        struct picture *p = &views->pictures[i];

        p->box_count = 0;
        if (!p->thumbnail.bytes)
            p->thumbnail = ddp_thumbnail_of(views->paths[p->number], NULL, PIXELS);
    }
}

/* List the pictures that could be read. */
static void show_pictures(ddp_page_pictures *views)
{
    views->shown_count = 0;
    for (size_t i = 0; i < views->picture_count; i++) {
        const struct picture *p = &views->pictures[i];

        if (p->thumbnail.bytes)
            views->shown[views->shown_count++] =
                (ddp_page_picture){.caption = ddp_path_name(views->paths[p->number]),
                                   .mime = "image/jpeg",
                                   .bytes = p->thumbnail.bytes,
                                   .count = p->thumbnail.count,
                                   .boxes = p->boxes,
                                   .box_count = p->box_count};
    }
}

void ddp_page_pictures_take(void *ctx, const ddp_detection *found, size_t count,
                            const ddp_truth *truths, size_t truth_count)
{
    ddp_page_pictures *views = ctx;
    ddp_error err;

    if (!views)
        return;
    take_pictures(views);
    for (size_t i = 0; i < truth_count; i++)
        add_box(views, truths[i].picture, truths[i].class_id, &truths[i].box, 0, (double)NAN);
    for (size_t i = 0; i < count; i++)
        if (found[i].score >= least_score)
            add_box(views, found[i].picture, found[i].class_id, &found[i].box, 1, found[i].score);
    if (views->counts
        && ddp_confusion_of(views->counts, views->kind->classes, least_score, found, count, truths,
                            truth_count, &err)) {
        free(views->counts); /* no memory: the matrix is not shown */
        views->counts = NULL;
    }
    show_pictures(views);
    views->taken = 1;
}

void ddp_page_pictures_show(const ddp_page_pictures *views, ddp_page *page)
{
    if (!views || !views->taken)
        return;
    page->confusion = views->counts;
    page->confusion_names = views->names;
    page->confusion_count = (size_t)views->kind->classes + 1;
    page->pictures = views->shown;
    page->picture_count = views->shown_count;
}
