/* ddp-test: quick */
/* The loops of BatchNorm (layers/bf16/host_rows.h), of each kind of instructions that this CPU has,
 * beside plain formulas in double. */
#include "../unit/numbers.h"
#include "layers/bf16/host_rows.h"
#include "layers/onednn/convolution.h"
#include "layers/onednn/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum {
    ROWS = 11,     /* no multiple of the rows that are taken at once */
    CHANNELS = 53, /* nor of a vector's length */
    MET = 32       /* channels that meet the other layer of a [shortcut], if not all do */
};
/* Where rows meet the other layer. */
static const long some_places[ROWS] = {40, -1, 0, 100, -1, -1, 140, 180, 220, -1, 300};
#define VALUES ((size_t)(ROWS * CHANNELS))

typedef unsigned short half;

/* Arrays of a problem; each of halves has one more value, which must stay. */
typedef struct {
    half x[VALUES + 1], other[VALUES + 1], y[VALUES + 1], delta[VALUES + 1];
    half other_delta[VALUES + 1], x_delta[VALUES + 1];
    float mean[CHANNELS], biases[CHANNELS], scale[CHANNELS];
    float mean_delta[CHANNELS], variance_delta[CHANNELS], sum[CHANNELS], products[CHANNELS];
    bf16_rows r;
} problem;

static const half mark = 0x1234;

static float random_float(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

static void fill_halves(half *x, uint32_t *state)
{
    for (size_t i = 0; i < VALUES; i++)
        x[i] = half_of_float(random_float(state));
    x[VALUES] = mark;
}

static void fill(float *x, uint32_t *state)
{
    for (int c = 0; c < CHANNELS; c++)
        x[c] = random_float(state);
}

static problem *make_problem(float slope, int has_shortcut, float shortcut_slope)
{
    problem *p = test_malloc(sizeof *p);
    uint32_t state = 1;

    fill_halves(p->x, &state);
    fill_halves(p->other, &state);
    fill_halves(p->y, &state);
    fill_halves(p->delta, &state);
    fill_halves(p->other_delta, &state);
    fill_halves(p->x_delta, &state);
    fill(p->mean, &state);
    fill(p->biases, &state);
    fill(p->scale, &state);
    fill(p->mean_delta, &state);
    fill(p->variance_delta, &state);
    fill(p->sum, &state);
    fill(p->products, &state);
    p->r = (bf16_rows){
        .rows = ROWS,
        .channels = CHANNELS,
        .x = p->x,
        .mean = p->mean,
        .biases = p->biases,
        .scale = p->scale,
        .slope = slope,
        .alpha = has_shortcut ? .75F : 1,
        .beta = has_shortcut ? .5F : 0,
        .shortcut_slope = shortcut_slope,
        .met_channels = CHANNELS,
        .other = has_shortcut ? p->other : NULL,
        .y = p->y,
        .delta = p->delta,
        .output = has_shortcut && shortcut_slope != 1 ? p->y : NULL,
        .other_delta = has_shortcut ? p->other_delta : NULL,
        .mean_delta = p->mean_delta,
        .variance_delta = p->variance_delta,
        .x_delta = p->x_delta,
        .sum = p->sum,
        .products = p->products,
    };
    return p;
}

/* ---- formulas ---- */

static double distance_at(const problem *p, size_t i)
{
    return (double)half_to_float(p->x[i]) - p->mean[i % CHANNELS];
}

static double normalized_at(const problem *p, size_t i)
{
    return distance_at(p, i) * p->scale[i % CHANNELS] + p->biases[i % CHANNELS];
}

static double activated(double x, float slope)
{
    return x > 0 ? x : (double)slope * x;
}

/* The index of the value of the other layer that value i meets; -1: none */
static long place_of(const problem *p, size_t i)
{
    const size_t row = i / CHANNELS, c = i % CHANNELS;

    if (!p->r.places)
        return (long)i;
    return p->r.places[row] >= 0 && c < MET ? p->r.places[row] + (long)c : -1;
}

static double y_at(const problem *p, size_t i)
{
    const double y = activated(normalized_at(p, i), p->r.slope);
    const double rounded = half_to_float(half_of_float((float)y));
    const long place = place_of(p, i);

    if (!p->r.other)
        return y;
    if (place < 0)
        return activated(rounded, p->r.shortcut_slope);
    return activated((double)p->r.alpha * rounded
                         + (double)p->r.beta * half_to_float(p->other[place]),
                     p->r.shortcut_slope);
}

/* The gradient of the [shortcut]'s sum. */
static double shortcut_delta_at(const problem *p, const half *delta, size_t i)
{
    const double d = half_to_float(delta[i]);

    return p->r.output && !(half_to_float(p->y[i]) > 0) ? d * (double)p->r.shortcut_slope : d;
}

/* The gradient of BatchNorm's output. */
static double delta_at(const problem *p, const half *delta, size_t i)
{
    const double d = (double)p->r.alpha * shortcut_delta_at(p, delta, i);

    return normalized_at(p, i) > 0 ? d : d * (double)p->r.slope;
}

/* ---- checks ---- */

/* A half is what the formula says, but for rounding. */
static void check_half(half is, double expected, const char *what, size_t i)
{
    const double error = fabs((double)half_to_float(is) - expected);

    if (!(error <= fabs(expected) / 256 + 1e-6))
        fail_msg("%s: value %zu is %g in place of %g", what, i, (double)half_to_float(is),
                 expected);
}

/* Sums of a channel: these values, with what was there before. */
static void check_sums(const problem *p, const problem *before, int c, double sum, double products)
{
    assert_true(fabs(p->sum[c] - (before->sum[c] + sum)) < 1e-5);
    assert_true(fabs(p->products[c] - (before->products[c] + products)) < 1e-5);
}

static void check_forward(const bf16_row_loops *loops, problem *p)
{
    problem *before = test_malloc(sizeof *before);

    memcpy(before, p, sizeof *p);
    loops->add_moments(&p->r);
    for (int c = 0; c < CHANNELS; c++) {
        double sum = 0, squares = 0;

        for (size_t i = (size_t)c; i < VALUES; i += CHANNELS) {
            sum += distance_at(p, i);
            squares += distance_at(p, i) * distance_at(p, i);
        }
        check_sums(p, before, c, sum, squares);
    }
    loops->normalize(&p->r);
    for (size_t i = 0; i < VALUES; i++)
        check_half(p->y[i], y_at(p, i), "y", i);
    assert_int_equal(p->y[VALUES], mark);
    test_free(before);
}

/* What the other layer's delta becomes. */
static void set_expected(const problem *p, const half *before, double *expected)
{
    for (size_t i = 0; i < VALUES; i++)
        expected[i] = half_to_float(before[i]);
    for (size_t i = 0; i < VALUES; i++) {
        const long place = place_of(p, i);
        const double given = (double)p->r.beta * shortcut_delta_at(p, p->delta, i);

        if (place >= 0)
            expected[place] = p->r.set_other ? given : expected[place] + given;
    }
}

static void check_sum_deltas(const bf16_row_loops *loops, problem *p)
{
    problem *before = test_malloc(sizeof *before);
    double expected[VALUES];

    memcpy(before, p, sizeof *p);
    loops->sum_deltas(&p->r);
    for (int c = 0; c < CHANNELS; c++) {
        double sum = 0, products = 0;

        for (size_t i = (size_t)c; i < VALUES; i += CHANNELS) {
            sum += delta_at(p, p->delta, i);
            products += delta_at(p, p->delta, i) * distance_at(p, i);
        }
        check_sums(p, before, c, sum, products);
    }
    set_expected(p, before->other_delta, expected);
    for (size_t i = 0; p->r.other_delta && i < VALUES; i++)
        check_half(p->other_delta[i], expected[i], "the other layer's delta", i);
    assert_int_equal(p->other_delta[VALUES], mark);
    test_free(before);
}

/* in_place: x_delta is delta */
static void check_finish(const bf16_row_loops *loops, problem *p, int in_place)
{
    problem *before = test_malloc(sizeof *before);
    const half *is = in_place ? p->delta : p->x_delta;

    if (in_place)
        p->r.x_delta = p->delta;
    memcpy(before, p, sizeof *p);
    loops->finish_deltas(&p->r);
    for (size_t i = 0; i < VALUES; i++) {
        const double d = delta_at(p, before->delta, i)
                         + p->variance_delta[i % CHANNELS] * distance_at(p, i)
                         + p->mean_delta[i % CHANNELS];

        check_half(is[i], p->scale[i % CHANNELS] * d, "x's delta", i);
    }
    assert_int_equal(is[VALUES], mark);
    test_free(before);
}

static void check_loops(const bf16_row_loops *loops)
{
    static const float slopes[] = {1, 0, .1F};

    for (int i = 0; i < 21; i++) { /* with a [shortcut] from 3 on, of two sizes from 12 on */
        problem *p = make_problem(slopes[i % 3], i >= 3, i < 3 ? 1 : slopes[i / 3 % 3]);

        if (i >= 12) {
            p->r.places = some_places;
            p->r.met_channels = MET;
        }
        p->r.set_other = i % 2;
        check_forward(loops, p);
        check_sum_deltas(loops, p);
        check_finish(loops, p, i % 2);
        test_free(p);
    }
}

static void test_plain(void **state)
{
    (void)state;
    check_loops(&bf16_row_loops_plain);
}

static void test_here(void **state)
{
    (void)state;
    check_loops(bf16_row_loops_here());
}

/* A value that is NaN or infinite stays so. */
static void test_not_finite(void **state)
{
    const bf16_row_loops *kinds[] = {&bf16_row_loops_plain, bf16_row_loops_here()};

    (void)state;
    for (int k = 0; k < 2; k++) {
        problem *p = make_problem(0, 0, 1);

        p->x[5] = 0x7fff;
        p->x[20] = 0x7f80;
        p->scale[20] = 1;
        kinds[k]->normalize(&p->r);
        assert_true(isnan(half_to_float(p->y[5])));
        assert_true(isinf(half_to_float(p->y[20])));
        test_free(p);
    }
}

static void test_slopes(void **state)
{
    float slope = 7;

    (void)state;
    assert_true(bf16_activation_slope(LINEAR, &slope) && slope == 1);
    assert_true(bf16_activation_slope(RELU, &slope) && slope == 0);
    assert_true(bf16_activation_slope(LEAKY, &slope) && slope == .1F);
    assert_false(bf16_activation_slope(LOGISTIC, &slope));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_here),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_slopes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
