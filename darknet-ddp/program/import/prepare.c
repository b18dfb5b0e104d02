#include "import/prepare.h"

#include "import/picture_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box may end so far beyond its picture for a rounding of the source's numbers. */
static const double rounding = 1e-6;

/* The area of a box that is none, in pixels: labels of a side below this train nothing. */
static const double least = 1e-4;

static void leave_out(ddp_annotated_picture *p)
{
    free(p->path);
    p->path = NULL;
}

/* ---- one picture for each path ---- */

static ddp_annotations *sorted_set; /* of the sort that is under way */

static int by_path(const void *x, const void *y)
{
    size_t i = *(const size_t *)x, j = *(const size_t *)y;
    const char *a = sorted_set->pictures[i].path, *b = sorted_set->pictures[j].path;
    int order = strcmp(a ? a : "", b ? b : "");

    return order ? order : (i > j) - (i < j);
}

/* Put boxes in the order of their pictures, those of a picture as they came, and count them. */
static void sort_boxes(ddp_annotations *a, ddp_annotated_box *sorted, size_t *next)
{
    size_t at = 0;

    for (size_t i = 0; i < a->picture_count; i++)
        a->pictures[i].boxes = 0;
    for (size_t i = 0; i < a->box_count; i++)
        a->pictures[a->boxes[i].picture].boxes++;
    for (size_t i = 0; i < a->picture_count; i++) {
        next[i] = at;
        at += a->pictures[i].boxes;
    }
    for (size_t i = 0; i < a->box_count; i++)
        sorted[next[a->boxes[i].picture]++] = a->boxes[i];
    free(a->boxes);
    a->boxes = sorted;
    a->box_room = a->box_count;
}

/* Put pictures in the order of their paths. Of several with one path the first gets all boxes, and
 * the others lose their path. place: where each picture has come to. */
static void sort_pictures(ddp_annotations *a, size_t *order, size_t *place,
                          ddp_annotated_picture *sorted)
{
    for (size_t i = 0; i < a->picture_count; i++)
        order[i] = i;
    sorted_set = a;
    qsort(order, a->picture_count, sizeof *order, by_path);
    for (size_t i = 0, first = 0; i < a->picture_count; i++) {
        sorted[i] = a->pictures[order[i]];
        if (i > 0 && sorted[i].path && sorted[first].path
            && strcmp(sorted[first].path, sorted[i].path) == 0) {
            ddp_annotations_add_odd(a, DDP_ODD_TWICE, sorted[i].path);
            leave_out(&sorted[i]);
        } else
            first = i;
        place[order[i]] = first;
    }
    memcpy(a->pictures, sorted, a->picture_count * sizeof *sorted);
    for (size_t i = 0; i < a->box_count; i++)
        a->boxes[i].picture = place[a->boxes[i].picture];
}

static void sort(ddp_annotations *a)
{
    size_t n = a->picture_count;
    size_t *order = malloc((n + 1) * sizeof *order), *place = malloc((n + 1) * sizeof *place);
    ddp_annotated_picture *pictures = malloc((n + 1) * sizeof *pictures);
    ddp_annotated_box *boxes = malloc((a->box_count + 1) * sizeof *boxes);

    if (order && place && pictures && boxes) {
        sort_pictures(a, order, place, pictures);
        sort_boxes(a, boxes, place);
    } else {
        a->lost = 1;
        free(boxes);
    }
    free(order);
    free(place);
    free(pictures);
}

/* ---- boxes ---- */

/* Cut the box to the picture. Returns 0 if nothing of it is left. */
static int cut(ddp_annotations *a, ddp_annotated_box *b)
{
    ddp_annotated_box whole = *b;
    const ddp_annotated_picture *p = &a->pictures[b->picture];

    b->left = fmax(b->left, 0);
    b->top = fmax(b->top, 0);
    b->right = fmin(b->right, 1);
    b->bottom = fmin(b->bottom, 1);
    if (!(b->right - b->left > least / fmax(p->width, 1))
        || !(b->bottom - b->top > least / fmax(p->height, 1))) {
        ddp_annotations_add_odd(a, DDP_ODD_BOX, p->named);
        return 0;
    }
    if (whole.left < -rounding || whole.top < -rounding || whole.right > 1 + rounding
        || whole.bottom > 1 + rounding)
        ddp_annotations_add_odd(a, DDP_ODD_OUTSIDE, p->named);
    return 1;
}

static int is_kept(ddp_annotations *a, const ddp_annotated_box *b, unsigned left)
{
    for (int kind = 0; kind < DDP_ODDITIES; kind++)
        if (b->odd >> kind & 1U)
            ddp_annotations_add_odd(a, (ddp_oddity)kind, a->pictures[b->picture].named);
    return !(b->odd & left);
}

/* ---- pictures ---- */

/* How the boxes of a picture are to be turned: 1, not at all. The source's size tells whether its
 * boxes lie as the file is stored, if the sides change places. */
static int look_at(ddp_annotations *a, ddp_annotated_picture *p, unsigned left)
{
    ddp_picture_file file;
    int is_stored, is_seen;

    if (!ddp_picture_file_look(&file, p->path)) {
        ddp_annotations_add_odd(a, DDP_ODD_UNREADABLE, p->path);
        leave_out(p);
        return 1;
    }
    is_seen = p->width == file.width && p->height == file.height;
    is_stored = file.orientation > 4 && p->width == file.height && p->height == file.width;
    if (is_seen || (file.width == 1 && file.height == 1) || p->width <= 0)
        return 1;
    if (!is_stored) {
        ddp_annotations_add_odd(a, DDP_ODD_SIZE, p->path);
        return 1;
    }
    ddp_annotations_add_odd(a, DDP_ODD_TURNED, p->path);
    if (left >> DDP_ODD_TURNED & 1U)
        leave_out(p);
    return file.orientation;
}

static void prepare_picture(ddp_annotations *a, size_t picture, size_t first, size_t *kept,
                            unsigned left)
{
    ddp_annotated_picture *p = &a->pictures[picture];
    size_t count = p->boxes;
    int orientation = 1;

    p->boxes = 0;
    if (p->path && p->side == DDP_SIDE_TEST) {
        ddp_annotations_add_odd(a, DDP_ODD_TEST, p->path);
        leave_out(p);
    }
    if (p->path)
        orientation = look_at(a, p, left);
    for (size_t i = first; p->path && i < first + count; i++) {
        ddp_annotated_box b = a->boxes[i];

        if (!is_kept(a, &b, left))
            continue;
        ddp_box_turn(&b, orientation);
        if (!cut(a, &b))
            continue;
        a->boxes[(*kept)++] = b;
        p->boxes++;
    }
    if (!p->path || p->boxes > 0)
        return;
    ddp_annotations_add_odd(a, DDP_ODD_EMPTY, p->path);
    if (left >> DDP_ODD_EMPTY & 1U)
        leave_out(p);
}

void ddp_annotations_prepare(ddp_annotations *a, unsigned left)
{
    size_t first = 0, kept = 0;

    if (a->picture_count == 0)
        return;
    sort(a);
    if (a->lost)
        return;
    for (size_t i = 0; i < a->picture_count; i++) {
        size_t count = a->pictures[i].boxes;

        prepare_picture(a, i, first, &kept, left);
        first += count;
    }
    a->box_count = kept;
}
