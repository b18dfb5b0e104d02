#include "eval/confusion.h"

#include <stdlib.h>

static const double least_iou = 0.5;

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* Compare boxes for sorting: any order will do. */
static int compare_boxes(const ddp_box *a, const ddp_box *b)
{
    int order = compare_numbers(a->left, b->left);

    order = order ? order : compare_numbers(a->top, b->top);
    order = order ? order : compare_numbers(a->width, b->width);
    return order ? order : compare_numbers(a->height, b->height);
}

static int compare_detections(const void *a, const void *b)
{
    const ddp_detection *x = a, *y = b;

    if (x->picture != y->picture)
        return x->picture < y->picture ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    return compare_boxes(&x->box, &y->box);
}

static int compare_truths(const void *a, const void *b)
{
    const ddp_truth *x = a, *y = b;

    if (x->picture != y->picture)
        return x->picture < y->picture ? -1 : 1;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    return compare_boxes(&x->box, &y->box);
}

/* Detections and truths that count, sorted by picture. */
struct sorted {
    ddp_detection *detections;
    ddp_truth *truths;
    char *taken; /* 1 for each truth that a detection has taken */
    size_t detection_count, truth_count;
};

static void release(struct sorted *s)
{
    free(s->detections);
    free(s->truths);
    free(s->taken);
}

static int sort(struct sorted *s, int classes, double score, const ddp_detection *detections,
                size_t detection_count, const ddp_truth *truths, size_t truth_count)
{
    *s = (struct sorted){.detections = malloc((detection_count + 1) * sizeof *s->detections),
                         .truths = malloc((truth_count + 1) * sizeof *s->truths),
                         .taken = calloc(truth_count + 1, 1)};
    if (!s->detections || !s->truths || !s->taken)
        return 0;
    for (size_t i = 0; i < detection_count; i++)
        if (detections[i].score >= score && detections[i].class_id >= 0
            && detections[i].class_id < classes)
            s->detections[s->detection_count++] = detections[i];
    for (size_t i = 0; i < truth_count; i++)
        if (truths[i].class_id >= 0 && truths[i].class_id < classes)
            s->truths[s->truth_count++] = truths[i];
    qsort(s->detections, s->detection_count, sizeof *s->detections, compare_detections);
    qsort(s->truths, s->truth_count, sizeof *s->truths, compare_truths);
    return 1;
}

/* Take the truth in [first, end) for d, and return it; end: there is none. */
static size_t take(struct sorted *s, const ddp_detection *d, size_t first, size_t end)
{
    size_t best = end;
    double most = least_iou;

    for (size_t t = first; t < end; t++) {
        double iou = s->taken[t] ? 0 : ddp_box_iou(&d->box, &s->truths[t].box);

        if (iou >= most && (best == end || iou > most)) {
            most = iou;
            best = t;
        }
    }
    if (best < end)
        s->taken[best] = 1;
    return best;
}

static void count(double *counts, size_t side, struct sorted *s)
{
    size_t nothing = side - 1, first = 0;

    for (size_t i = 0; i < s->detection_count; i++) {
        const ddp_detection *d = &s->detections[i];
        size_t end, truth;

        while (first < s->truth_count && s->truths[first].picture < d->picture)
            first++;
        for (end = first; end < s->truth_count && s->truths[end].picture == d->picture;)
            end++;
        truth = take(s, d, first, end);
        counts[(truth < end ? (size_t)s->truths[truth].class_id : nothing) * side
               + (size_t)d->class_id]++;
    }
    for (size_t t = 0; t < s->truth_count; t++)
        if (!s->taken[t])
            counts[(size_t)s->truths[t].class_id * side + nothing]++;
}

ddp_status ddp_confusion_of(double *counts, int classes, double least_score,
                            const ddp_detection *detections, size_t detection_count,
                            const ddp_truth *truths, size_t truth_count, ddp_error *err)
{
    size_t side = (size_t)classes + 1;
    struct sorted s;
    int sorted = sort(&s, classes, least_score, detections, detection_count, truths, truth_count);

    for (size_t i = 0; i < side * side; i++)
        counts[i] = 0;
    if (sorted)
        count(counts, side, &s);
    release(&s);
    return sorted ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for a confusion matrix");
}
