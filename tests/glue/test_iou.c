/* ddp-test: quick */
/* The overlap of boxes: its values by hand, and how fast it grows against difference quotients.
 * Where the forks train with something else than the derivative (iou.h), the quotient is changed in
 * the same way here. */
#include "../unit/numbers.h"

#include <darknet.h>
#include <layers/heads/iou.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

enum { PAIRS = 400 };

typedef struct {
    double x, y, w, h;
} rect;

static const box unit = {.x = 0.5f, .y = 0.5f, .w = 0.5f, .h = 0.5f};

static void near(double got, double wanted, double tolerance, const char *what, int pair)
{
    if (!(fabs(got - wanted) <= tolerance * (1 + fabs(wanted))))
        fail_msg("pair %d, %s: %.8g, and should be %.8g", pair, what, got, wanted);
}

/* ---- the same values in double precision, written down anew ---- */

static double shared(double a, double aw, double b, double bw)
{
    return fmin(a + aw / 2, b + bw / 2) - fmax(a - aw / 2, b - bw / 2);
}

static double hull(double a, double aw, double b, double bw)
{
    return fmax(a + aw / 2, b + bw / 2) - fmin(a - aw / 2, b - bw / 2);
}

static double exact_iou(rect p, rect t)
{
    double w = shared(p.x, p.w, t.x, t.w);
    double h = shared(p.y, p.h, t.y, t.h);
    double both = w > 0 && h > 0 ? w * h : 0;

    return both / (p.w * p.h + t.w * t.h - both);
}

static double giou_only(rect p, rect t)
{
    double area = hull(p.x, p.w, t.x, t.w) * hull(p.y, p.h, t.y, t.h);
    double iou = exact_iou(p, t);

    return (p.w * p.h + t.w * t.h) / (1 + iou) / area - 1;
}

static double distance_only(rect p, rect t)
{
    double w = hull(p.x, p.w, t.x, t.w);
    double h = hull(p.y, p.h, t.y, t.h);

    return -(pow(p.x - t.x, 2) + pow(p.y - t.y, 2)) / (w * w + h * h);
}

static double aspect(rect p, rect t)
{
    return 4 / (PI * PI) * pow(atan(t.w / t.h) - atan(p.w / p.h), 2);
}

static double weight_of_aspect(rect p, rect t, double iou)
{
    return aspect(p, t) / (1 - iou + aspect(p, t) + 1e-6);
}

/* ---- pairs of boxes, by their number ---- */

static double drawn(int pair, int what)
{
    unsigned v = (unsigned)(pair * 16 + what + 1) * 2654435761U;

    v ^= v >> 15;
    v *= 2246822519U;
    v ^= v >> 13;
    return v % 9973 / 9973.0;
}

static box box_of(rect r)
{
    return (box){.x = (float)r.x, .y = (float)r.y, .w = (float)r.w, .h = (float)r.h};
}

static rect draw_rect(int pair, int first)
{
    box b =
        box_of((rect){0.2 + 0.6 * drawn(pair, first), 0.2 + 0.6 * drawn(pair, first + 1),
                      0.15 + 0.5 * drawn(pair, first + 2), 0.15 + 0.5 * drawn(pair, first + 3)});

    return (rect){b.x, b.y, b.w, b.h};
}

static bool overlap(rect p, rect t)
{
    return shared(p.x, p.w, t.x, t.w) > 0 && shared(p.y, p.h, t.y, t.h) > 0;
}

/* An edge of one that lies on an edge of the other makes a kink: not to be differentiated there. */
static bool smooth(rect p, rect t)
{
    double margin = 0.002;

    return fabs(p.x - p.w / 2 - t.x + t.w / 2) > margin
           && fabs(p.x + p.w / 2 - t.x - t.w / 2) > margin
           && fabs(p.y - p.h / 2 - t.y + t.h / 2) > margin
           && fabs(p.y + p.h / 2 - t.y - t.h / 2) > margin;
}

static rect quotients(double (*f)(rect, rect), rect p, rect t)
{
    const double d = 1e-5;
    rect q;

    q.x = (f((rect){p.x + d, p.y, p.w, p.h}, t) - f((rect){p.x - d, p.y, p.w, p.h}, t)) / (2 * d);
    q.y = (f((rect){p.x, p.y + d, p.w, p.h}, t) - f((rect){p.x, p.y - d, p.w, p.h}, t)) / (2 * d);
    q.w = (f((rect){p.x, p.y, p.w + d, p.h}, t) - f((rect){p.x, p.y, p.w - d, p.h}, t)) / (2 * d);
    q.h = (f((rect){p.x, p.y, p.w, p.h + d}, t) - f((rect){p.x, p.y, p.w, p.h - d}, t)) / (2 * d);
    return q;
}

/* ---- what the forks make of the derivative ---- */

static rect plus(rect a, rect b, double of_b)
{
    return (rect){a.x + of_b * b.x, a.y + of_b * b.y, a.w + of_b * b.w, a.h + of_b * b.h};
}

static rect twice_by_size(rect a)
{
    return (rect){a.x, a.y, 2 * a.w, 2 * a.h};
}

/* The distance's part, with the other sign of what the box around both changes of it by the middle.
 */
static rect forks_distance(rect p, rect t)
{
    rect q = quotients(distance_only, p, t);
    double diagonal = pow(hull(p.x, p.w, t.x, t.w), 2) + pow(hull(p.y, p.h, t.y, t.h), 2);

    q.x = 4 * (t.x - p.x) / diagonal - q.x;
    q.y = 4 * (t.y - p.y) / diagonal - q.y;
    return q;
}

/* Return the overlap as the forks have it: for boxes apart, the product of their gaps as it is. */
static double forks_iou(rect p, rect t)
{
    double both = shared(p.x, p.w, t.x, t.w) * shared(p.y, p.h, t.y, t.h);

    return both / (p.w * p.h + t.w * t.h - both);
}

static rect forks_gradient(rect p, rect t, IOU_KIND kind)
{
    rect g = {0};

    if (overlap(p, t))
        g = twice_by_size(quotients(exact_iou, p, t));
    if (kind == IOU_GIOU)
        g = plus(g, twice_by_size(quotients(giou_only, p, t)), 1);
    if (kind == IOU_DIOU || kind == IOU_CIOU)
        g = plus(g, forks_distance(p, t), 1);
    if (kind == IOU_CIOU)
        g = plus(g, quotients(aspect, p, t),
                 -weight_of_aspect(p, t, forks_iou(p, t)) * (p.w * p.w + p.h * p.h));
    return g;
}

/* ---- tests ---- */

static void values_are_those_of_the_formulas(void **state)
{
    (void)state;
    for (int pair = 0; pair < PAIRS; pair++) {
        rect p = draw_rect(pair, 0);
        rect t = draw_rect(pair, 4);
        double iou = exact_iou(p, t);
        box a = box_of(p);
        box b = box_of(t);

        near(box_iou_kind(a, b, IOU_PLAIN), iou, 1e-5, "iou", pair);
        near(box_iou_kind(a, b, IOU_MSE), iou, 1e-5, "iou for mse", pair);
        near(box_iou_kind(a, b, IOU_GIOU), iou + giou_only(p, t), 1e-5, "giou", pair);
        near(box_iou_kind(a, b, IOU_DIOU), iou - pow(-distance_only(p, t), 0.6), 1e-5, "diou",
             pair);
        near(box_iou_kind(a, b, IOU_CIOU),
             iou + distance_only(p, t) - weight_of_aspect(p, t, iou) * aspect(p, t), 1e-5, "ciou",
             pair);
    }
}

static void a_box_overlaps_itself_wholly(void **state)
{
    (void)state;
    for (int kind = IOU_MSE; kind <= IOU_CIOU; kind++)
        near(box_iou_kind(unit, unit, (IOU_KIND)kind), 1, 1e-6, "itself", kind);
}

static void gradients_are_difference_quotients(void **state)
{
    static const char *const names[] = {"mse", "iou", "giou", "diou", "ciou"};
    int touching = 0;
    int apart = 0;

    (void)state;
    for (int pair = 0; pair < PAIRS; pair++) {
        rect p = draw_rect(pair, 0);
        rect t = draw_rect(pair, 4);

        if (!smooth(p, t))
            continue;
        touching += overlap(p, t);
        apart += !overlap(p, t);
        for (int kind = IOU_PLAIN; kind <= IOU_CIOU; kind++) {
            dbox d = iou_gradient(box_of(p), box_of(t), (IOU_KIND)kind);
            rect g = forks_gradient(p, t, (IOU_KIND)kind);

            if (!overlap(p, t) && (kind == IOU_PLAIN || kind == IOU_GIOU))
                continue; /* there the forks take the product of the two gaps as it is: see the
                             reference tests */
            near(d.dx, g.x, 2e-4, names[kind], pair);
            near(d.dy, g.y, 2e-4, names[kind], pair);
            near(d.dw, g.w, 2e-4, names[kind], pair);
            near(d.dh, g.h, 2e-4, names[kind], pair);
        }
    }
    assert_greater(touching, PAIRS / 4);
    assert_greater(apart, PAIRS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_formulas),
        cmocka_unit_test(a_box_overlaps_itself_wholly),
        cmocka_unit_test(gradients_are_difference_quotients),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
