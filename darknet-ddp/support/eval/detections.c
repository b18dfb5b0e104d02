#include "eval/detections.h"

#include <stdlib.h>
#include <string.h>

static double shorter(double a, double b)
{
    return a < b ? a : b;
}

static double longer(double a, double b)
{
    return a > b ? a : b;
}

double ddp_box_iou(const ddp_box *a, const ddp_box *b)
{
    double width = shorter(a->left + a->width, b->left + b->width) - longer(a->left, b->left);
    double height = shorter(a->top + a->height, b->top + b->height) - longer(a->top, b->top);
    double both = width * height;

    if (width <= 0 || height <= 0)
        return 0;
    return both / (a->width * a->height + b->width * b->height - both);
}

static int compare_places(int32_t class_a, uint32_t picture_a, int32_t class_b, uint32_t picture_b)
{
    if (class_a != class_b)
        return class_a < class_b ? -1 : 1;
    if (picture_a != picture_b)
        return picture_a < picture_b ? -1 : 1;
    return 0;
}

static int compare_detections(const void *a, const void *b)
{
    const ddp_detection *x = a, *y = b;
    int order = compare_places(x->class_id, x->picture, y->class_id, y->picture);

    if (order)
        return order;
    return (x->score < y->score) - (x->score > y->score);
}

static int compare_truths(const void *a, const void *b)
{
    const ddp_truth *x = a, *y = b;

    return compare_places(x->class_id, x->picture, y->class_id, y->picture);
}

/* Merge sort, which keeps equal elements in their order; qsort does not promise to. */
static int sort_stable(void *base, size_t count, size_t size,
                       int (*compare)(const void *, const void *))
{
    char *from = base;
    char *to = malloc(count ? count * size : 1);
    char *scratch = to;

    if (!to)
        return -1;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = start + run < count ? start + run : count;
            size_t end = start + 2 * run < count ? start + 2 * run : count;
            size_t a = start, b = middle;

            for (size_t i = start; i < end; i++) {
                int first =
                    b == end || (a < middle && compare(from + a * size, from + b * size) <= 0);

                memcpy(to + i * size, from + (first ? a++ : b++) * size, size);
            }
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != base)
        memcpy(base, from, count * size);
    free(scratch);
    return 0;
}

int ddp_sort_detections(ddp_detection *detections, size_t count)
{
    return sort_stable(detections, count, sizeof *detections, compare_detections);
}

int ddp_sort_truths(ddp_truth *truths, size_t count)
{
    return sort_stable(truths, count, sizeof *truths, compare_truths);
}
