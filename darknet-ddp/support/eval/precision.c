#include "eval/precision.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* IOU_THRESHOLDS: how many IoU thresholds there are, 0.5, 0.55, ... 0.95. DETECTIONS_MOST: how many
 * detections of a picture and class count, the best. */
enum { IOU_THRESHOLDS = 10, DETECTIONS_MOST = 100 };

/* A detection of one class, and what became of it. */
struct judged {
    const ddp_detection *detection;
    double iou;               /* IoU with its truth at threshold 0.5; 0: it has none */
    char hit[IOU_THRESHOLDS]; /* 1 for each threshold at which it is a hit */
};

/* Memory to evaluate one class. */
struct work {
    const ddp_precision_config *config;
    double thresholds[IOU_THRESHOLDS];
    struct judged *judged; /* room for all detections */
    size_t judged_count;
    char *taken;       /* room for all truths */
    double *precision; /* room for all detections */
};

/* Set the thresholds, equally spaced, the last one exact. */
static void set_thresholds(double *thresholds)
{
    const double first = 0.5, last = 0.95;

    for (int i = 0; i < IOU_THRESHOLDS; i++)
        thresholds[i] = first + i * ((last - first) / (IOU_THRESHOLDS - 1));
    thresholds[IOU_THRESHOLDS - 1] = last;
}

/* Return the truth that a detection takes at a threshold, the last of equals, or -1. */
static long find_truth(const ddp_box *box, const ddp_truth *truths, size_t count, const char *taken,
                       double threshold, double *iou)
{
    const double nearly_one = 1 - 1e-10;
    double best = threshold < nearly_one ? threshold : nearly_one;
    long found = -1;

    for (size_t t = 0; t < count; t++) {
        double overlap = taken[t] ? -1 : ddp_box_iou(box, &truths[t].box);

        if (overlap < best)
            continue;
        best = overlap;
        found = (long)t;
    }
    *iou = found < 0 ? 0 : best;
    return found;
}

/* Judge the detections of one picture and class, the best first. */
static void judge_picture(struct work *w, const ddp_detection *detections, size_t count,
                          const ddp_truth *truths, size_t truth_count)
{
    struct judged *judged = w->judged + w->judged_count;

    if (count > DETECTIONS_MOST)
        count = DETECTIONS_MOST;
    for (size_t d = 0; d < count; d++)
        judged[d] = (struct judged){.detection = &detections[d]};
    for (int i = 0; i < IOU_THRESHOLDS; i++) {
        memset(w->taken, 0, truth_count);
        for (size_t d = 0; d < count; d++) {
            double iou;
            long t = find_truth(&detections[d].box, truths, truth_count, w->taken, w->thresholds[i],
                                &iou);

            if (t < 0)
                continue;
            w->taken[t] = 1;
            judged[d].hit[i] = 1;
            if (i == 0)
                judged[d].iou = iou;
        }
    }
    w->judged_count += count;
}

static size_t same_picture(const ddp_detection *d, size_t count)
{
    size_t n = 1;

    while (n < count && d[n].picture == d[0].picture)
        n++;
    return n;
}

/* Judge all pictures of one class. */
static void judge(struct work *w, const ddp_detection *detections, size_t detection_count,
                  const ddp_truth *truths, size_t truth_count)
{
    size_t t = 0, n;

    w->judged_count = 0;
    for (size_t d = 0; d < detection_count; d += n) {
        size_t of_picture = 0;

        n = same_picture(detections + d, detection_count - d);
        while (t < truth_count && truths[t].picture < detections[d].picture)
            t++;
        while (t + of_picture < truth_count
               && truths[t + of_picture].picture == detections[d].picture)
            of_picture++;
        judge_picture(w, detections + d, n, truths + t, of_picture);
    }
}

/* Compare by falling score; of one score, by picture, and within a picture by the order there. */
static int compare_judged(const void *a, const void *b)
{
    const struct judged *x = a, *y = b;
    double p = x->detection->score, q = y->detection->score;

    if (p != q)
        return p < q ? 1 : -1;
    return (x->detection > y->detection) - (x->detection < y->detection);
}

/* Return the mean, over recalls, of the best precision at that recall or beyond. */
static double average(const struct work *w, int threshold, size_t truth_count)
{
    int recalls = w->config->recalls;
    double *precision = w->precision;
    double hits = 0, sum = 0;
    size_t n = w->judged_count, at = 0, counted = 0;

    for (size_t d = 0; d < n; d++) {
        hits += w->judged[d].hit[threshold];
        precision[d] = hits / ((double)(d + 1) + DBL_EPSILON);
    }
    for (size_t d = n; d-- > 1;)
        if (precision[d] > precision[d - 1])
            precision[d - 1] = precision[d];
    if (n > 0)
        counted = (size_t)w->judged[0].hit[threshold];
    for (int r = 0; r < recalls; r++) {
        double wanted = r + 1 == recalls ? 1 : r * (1.0 / (recalls - 1));

        while (at < n && (double)counted / (double)truth_count < wanted)
            if (++at < n)
                counted += (size_t)w->judged[at].hit[threshold];
        if (at < n)
            sum += precision[at];
    }
    return sum / recalls;
}

static void rate(ddp_precision *p, double iou_sum)
{
    size_t positives = p->hits + p->false_positives;

    p->precision = positives ? (double)p->hits / (double)positives : 0;
    p->recall = p->truths ? (double)p->hits / (double)p->truths : 0;
    p->mean_iou = positives ? iou_sum / (double)positives : 0;
}

/* Compute the figures of one class that is judged. *iou_sum: sum of IoU over its hits. */
static void measure(ddp_precision *p, double *iou_sum, struct work *w)
{
    double sum = 0;

    *iou_sum = 0;
    for (size_t d = 0; d < w->judged_count; d++) {
        const struct judged *j = &w->judged[d];

        if (j->detection->score < w->config->score)
            continue;
        p->hits += (size_t)j->hit[0];
        p->false_positives += (size_t)!j->hit[0];
        *iou_sum += j->iou;
    }
    rate(p, *iou_sum);
    p->ap = p->ap50 = p->ap75 = -1;
    if (p->truths == 0)
        return;
    qsort(w->judged, w->judged_count, sizeof *w->judged, compare_judged);
    for (int i = 0; i < IOU_THRESHOLDS; i++) {
        double ap = average(w, i, p->truths);

        sum += ap;
        if (i == 0)
            p->ap50 = ap;
        if (i == IOU_THRESHOLDS / 2)
            p->ap75 = ap;
    }
    p->ap = sum / IOU_THRESHOLDS;
}

static void add_to_means(ddp_precision *all, const ddp_precision *p)
{
    all->truths += p->truths;
    all->detections += p->detections;
    all->hits += p->hits;
    all->false_positives += p->false_positives;
    if (p->truths == 0)
        return;
    all->ap += p->ap;
    all->ap50 += p->ap50;
    all->ap75 += p->ap75;
}

static void finish_means(ddp_precision *all, double iou_sum, size_t classes)
{
    double *means[] = {&all->ap, &all->ap50, &all->ap75};

    rate(all, iou_sum);
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++)
        *means[i] = classes ? *means[i] / (double)classes : -1;
}

static void evaluate(ddp_precision *all, ddp_precision *each, struct work *w,
                     const ddp_detection *detections, size_t detection_count,
                     const ddp_truth *truths, size_t truth_count)
{
    size_t d = 0, t = 0, with_truths = 0;
    double iou_sum = 0;

    *all = (ddp_precision){0};
    while (d < detection_count && detections[d].class_id < 0)
        d++;
    while (t < truth_count && truths[t].class_id < 0)
        t++;
    for (int c = 0; c < w->config->classes; c++) {
        size_t first = d, first_truth = t;
        double of_class;

        while (d < detection_count && detections[d].class_id == c)
            d++;
        while (t < truth_count && truths[t].class_id == c)
            t++;
        each[c] = (ddp_precision){.truths = t - first_truth, .detections = d - first};
        judge(w, detections + first, d - first, truths + first_truth, t - first_truth);
        measure(&each[c], &of_class, w);
        iou_sum += of_class;
        with_truths += each[c].truths > 0;
        add_to_means(all, &each[c]);
    }
    finish_means(all, iou_sum, with_truths);
}

ddp_status ddp_precision_of(ddp_precision *all, ddp_precision *each,
                            const ddp_precision_config *config, ddp_detection *detections,
                            size_t detection_count, ddp_truth *truths, size_t truth_count,
                            ddp_error *err)
{
    struct work w = {.config = config};
    size_t room = detection_count ? detection_count : 1;
    ddp_status st = DDP_OK;

    if (config->classes < 1 || config->recalls < 2)
        return ddp_fail(err, DDP_ERR_USAGE, "an evaluation of %d classes at %d recalls",
                        config->classes, config->recalls);
    set_thresholds(w.thresholds);
    w.judged = calloc(room, sizeof *w.judged);
    w.precision = calloc(room, sizeof *w.precision);
    w.taken = calloc(truth_count ? truth_count : 1, 1);
    if (!w.judged || !w.precision || !w.taken || ddp_sort_detections(detections, detection_count)
        || ddp_sort_truths(truths, truth_count))
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory to evaluate %zu detections", detection_count);
    else
        evaluate(all, each, &w, detections, detection_count, truths, truth_count);
    free(w.judged);
    free(w.precision);
    free(w.taken);
    return st;
}
