#include "layers/images/anchors.h"
#include "utils.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STARTS 10
#define MOST_ROUNDS 500

/* The next of the numbers that follow from a seed (SplitMix64), from 0 to less than 1. */
static double next_number(unsigned long long *state)
{
    unsigned long long z = *state += 0x9E3779B97F4A7C15ULL;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.;
}

static double overlap(const float *a, const float *b)
{
    double w = a[0] < b[0] ? a[0] : b[0], h = a[1] < b[1] ? a[1] : b[1];
    return w * h / ((double)a[0] * a[1] + (double)b[0] * b[1] - w * h);
}

static int best_anchor(const float *box, const float *anchors, int k, double *best)
{
    int i, found = 0;
    *best = -1;
    for (i = 0; i < k; ++i) {
        double v = overlap(box, anchors + 2 * i);
        if (v > *best) {
            *best = v;
            found = i;
        }
    }
    return found;
}

/* Boxes of the list itself, each the likelier the less those before overlap it. */
static void begin(const float *boxes, int n, int k, unsigned long long *state, float *anchors)
{
    int i, c;
    double *left = calloc((size_t)n, sizeof(double));
    memcpy(anchors, boxes + 2 * (int)(next_number(state) * n), 2 * sizeof(float));
    for (c = 1; c < k; ++c) {
        double sum = 0;
        for (i = 0; i < n; ++i) {
            double best;
            best_anchor(boxes + 2 * i, anchors, c, &best);
            sum += left[i] = (1 - best) * (1 - best);
        }
        double at = next_number(state) * sum;
        for (i = 0; i < n - 1 && at >= left[i]; ++i)
            at -= left[i];
        memcpy(anchors + 2 * c, boxes + 2 * i, 2 * sizeof(float));
    }
    free(left);
}

/* Each anchor becomes the mean of the boxes that it overlaps best. Returns the mean overlap before.
 */
static double improve(const float *boxes, int n, int k, float *anchors)
{
    int i, numbers = 3 * k;
    double all = 0, *sums = calloc((size_t)numbers, sizeof(double));
    for (i = 0; i < n; ++i) {
        double best;
        double *sum = sums + 3 * best_anchor(boxes + 2 * i, anchors, k, &best);
        sum[0] += boxes[2 * i];
        sum[1] += boxes[2 * i + 1];
        sum[2] += 1;
        all += best;
    }
    for (i = 0; i < k; ++i) {
        if (sums[3 * i + 2] == 0)
            continue;
        anchors[2 * i] = (float)(sums[3 * i] / sums[3 * i + 2]);
        anchors[2 * i + 1] = (float)(sums[3 * i + 1] / sums[3 * i + 2]);
    }
    free(sums);
    return all / n;
}

static double mean_overlap(const float *boxes, int n, int k, const float *anchors)
{
    int i;
    double sum = 0;
    for (i = 0; i < n; ++i) {
        double best;
        best_anchor(boxes + 2 * i, anchors, k, &best);
        sum += best;
    }
    return sum / n;
}

static int compare_areas(const void *a, const void *b)
{
    const float *x = a, *y = b;
    float d = x[0] * x[1] - y[0] * y[1];
    return d < 0 ? -1 : d > 0;
}

double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors)
{
    int start, i, numbers = 2 * k;
    double best = -1;
    unsigned long long state = seed;
    float *now = calloc((size_t)numbers, sizeof(float));
    float *kept = calloc((size_t)numbers, sizeof(float));
    for (start = 0; start < STARTS; ++start) {
        double reached = -1;
        begin(boxes, n, k, &state, now);
        for (i = 0; i < MOST_ROUNDS; ++i) { // the mean may get worse: then what was before stays
            memcpy(kept, now, (size_t)numbers * sizeof(float));
            double mean = improve(boxes, n, k, now);
            if (mean <= reached)
                break;
            reached = mean;
            if (mean > best) {
                best = mean;
                memcpy(anchors, kept, (size_t)numbers * sizeof(float));
            }
        }
    }
    qsort(anchors, (size_t)k, 2 * sizeof(float), compare_areas);
    free(now);
    free(kept);
    return mean_overlap(boxes, n, k, anchors);
}

double round_anchors(const float *boxes, int n, int k, const float pixel[2], float *anchors)
{
    int i;
    for (i = 0; i < 2 * k; ++i)
        anchors[i] = fmaxf(1, roundf(anchors[i] / pixel[i % 2])) * pixel[i % 2];
    return mean_overlap(boxes, n, k, anchors);
}

void letter_box_shares(int w, int h, const int input[2], float shares[2])
{
    double across, down; /* pixels of the input for one of the picture */
    shares[0] = shares[1] = 1;
    if (w < 1 || h < 1 || input[0] < 1 || input[1] < 1)
        return;
    across = (double)input[0] / w;
    down = (double)input[1] / h;
    if (across < down)
        shares[1] = (float)(across / down);
    else
        shares[0] = (float)(down / across);
}
