/* The function do_nms_by of darknet.h: of two boxes that overlap by more than thresh, the one with
 * the lower score in a class loses this score. Only boxes that have a score in the class are sorted
 * and compared: a detector gives thousands of boxes, of which few have a score in most classes. */
#include "layers/heads/iou.h"

#include "utils.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box that has a score in the class at hand. */
typedef struct {
    float score;
    int place;  /* in the order before this class is sorted */
    int number; /* in the array of detections */
    box box;
} candidate;

/* By falling score; of one score, in the order that they had. */
static int by_score(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->place < y->place ? -1 : 1;
}

/* Fill `ranked` with the boxes that have a score in class k, the likeliest first, and put their
 * numbers at the front of `order`. The other boxes follow in the order that they had. Returns how
 * many have a score. */
static size_t rank_class(const detection *dets, size_t total, int k, int *order, candidate *ranked)
{
    size_t n = 0, rest = 0;

    for (size_t i = 0; i < total; i++) {
        const detection *d = dets + order[i];

        if (d->prob[k] != 0)
            ranked[n++] = (candidate){d->prob[k], (int)i, order[i], d->bbox};
        else
            order[rest++] = order[i];
    }
    memmove(order + n, order, rest * sizeof *order);
    qsort(ranked, n, sizeof *ranked, by_score);
    for (size_t i = 0; i < n; i++)
        order[i] = ranked[i].number;
    return n;
}

/* Return 0 if a and b lie apart, so that no kind of overlap is above 0. Costs less than those. */
static int touch(box a, box b)
{
    return 2 * fabsf(a.x - b.x) <= a.w + b.w && 2 * fabsf(a.y - b.y) <= a.h + b.h;
}

static float overlap_by(box a, box b, NMS_KIND kind, float beta)
{
    if (kind == NMS_PLAIN)
        return box_iou(a, b);
    return box_less_distance(a, b, kind == NMS_DIOU ? beta : .6f);
}

/* Take class k's score from each of left[0..n) that overlaps a likelier one. `left`: by rank_class;
 * it is used up. */
static void suppress_class(detection *dets, int k, candidate *left, size_t n, float thresh,
                           NMS_KIND kind, float beta)
{
    while (n > 1) {
        box best = left[0].box;
        size_t kept = 0;

        for (size_t i = 1; i < n; i++)
            if (touch(best, left[i].box) && overlap_by(best, left[i].box, kind, beta) > thresh)
                dets[left[i].number].prob[k] = 0;
            else
                left[kept++] = left[i];
        n = kept;
    }
}

/* Move boxes of objectness 0 behind all others. Returns how many others there are. */
static size_t drop_empty(detection *dets, size_t total)
{
    for (size_t i = 0; i < total;) {
        detection d = dets[i];

        if (d.objectness != 0) {
            i++;
            continue;
        }
        dets[i] = dets[--total];
        dets[total] = d;
    }
    return total;
}

void do_nms_by(detection *dets, int total, int classes, float thresh, NMS_KIND kind, float beta)
{
    size_t count = drop_empty(dets, (size_t)total);
    int *order = calloc(count, sizeof *order);
    candidate *ranked = calloc(count, sizeof *ranked);
    detection *before = calloc(count, sizeof *before);

    for (size_t i = 0; i < count; i++)
        order[i] = (int)i;
    for (int k = 0; k < classes; k++) {
        size_t n = rank_class(dets, count, k, order, ranked);

        suppress_class(dets, k, ranked, n, thresh, kind, beta);
    }
    memcpy(before, dets, count * sizeof *before);
    for (size_t i = 0; i < count; i++)
        dets[i] = before[order[i]];
    free(before);
    free(ranked);
    free(order);
}
