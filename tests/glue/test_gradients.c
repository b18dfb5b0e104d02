/* ddp-test: quick */
/* Gradients of weights (layers/gradients/gradients.h) beside a plain loop in double, each way. */
#include "../unit/numbers.h"
#include "layers/gradients/gradients.h"
#include "layers/winograd/rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* Of OpenMP, if the layers are built with it. */
void omp_set_num_threads(int count) __attribute__((weak));

#define SHAPE(n, c, h, w, f, s, across, down, p, d)                                                \
    {                                                                                              \
        .images = (n), .channels = (c), .height = (h), .width = (w), .filters = (f), .size = (s),  \
        .stride_x = (across), .stride_y = (down), .pad = (p), .dilation = (d), .groups = 1         \
    }
static const convolution_shape shapes[] = {
    SHAPE(2, 3, 13, 17, 8, 3, 1, 1, 1, 1),    /* few channels: by columns */
    SHAPE(2, 3, 40, 40, 16, 7, 2, 2, 3, 1),   /* ResNet's first layer */
    SHAPE(1, 17, 12, 11, 20, 9, 1, 1, 4, 1),  /* a window of more than 49 weights: by columns */
    SHAPE(3, 16, 9, 11, 24, 3, 1, 1, 1, 1),   /* an odd width */
    SHAPE(2, 33, 12, 10, 65, 3, 2, 2, 1, 1),  /* a part of a block; a stride */
    SHAPE(2, 40, 11, 9, 16, 3, 2, 1, 0, 1),   /* unlike strides, no pad */
    SHAPE(2, 16, 13, 13, 16, 3, 1, 1, 2, 2),  /* dilation */
    SHAPE(2, 16, 15, 14, 16, 3, 2, 3, 3, 2),  /* dilation and strides */
    SHAPE(3, 32, 7, 7, 64, 1, 1, 1, 0, 1),    /* 1x1, an odd number of pixels */
    SHAPE(2, 32, 7, 7, 64, 1, 1, 1, 0, 1),    /* 1x1, an odd width */
    SHAPE(2, 32, 8, 8, 16, 1, 2, 2, 0, 1),    /* 1x1, a stride */
    SHAPE(2, 64, 4, 4, 255, 1, 1, 1, 0, 1),   /* before a [yolo] */
    SHAPE(1, 20, 6, 6, 4, 2, 2, 2, 0, 1),     /* an even window */
    SHAPE(2, 16, 60, 50, 16, 3, 1, 1, 1, 1),  /* more than one chunk: rows of an image */
    SHAPE(40, 16, 9, 9, 16, 3, 1, 1, 1, 1),   /* more than one chunk: images */
    SHAPE(1, 600, 30, 30, 40, 1, 1, 1, 0, 1), /* the copy of x is the larger one */
    SHAPE(1, 16, 1, 3000, 16, 1, 1, 1, 0, 1), /* a row of more pixels than a chunk has */
    /* By Winograd's values, without AMX. */
    SHAPE(3, 32, 8, 8, 32, 3, 1, 1, 1, 1),   /* whole tiles */
    SHAPE(2, 64, 13, 13, 96, 3, 1, 1, 1, 1), /* a part of a tile, and of a block */
    SHAPE(2, 32, 9, 10, 32, 3, 1, 1, 0, 1),  /* no pad */
    SHAPE(2, 32, 7, 5, 32, 3, 1, 1, 2, 1),   /* a pad of 2; an odd number of tiles in a row */
    SHAPE(1, 32, 90, 61, 32, 3, 1, 1, 1, 1), /* more than one chunk: rows of an image */
    SHAPE(40, 32, 9, 9, 32, 3, 1, 1, 1, 1),  /* more than one chunk: images */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* ---- values ---- */

static float float_of(unsigned short half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* bf16 numbers from -1 to 1. */
static unsigned short *random_halves(size_t count, uint32_t state)
{
    unsigned short *x = test_malloc(count * sizeof *x);

    for (size_t i = 0; i < count; i++) {
        float value;
        uint32_t bits;

        state = state * 1664525U + 1013904223U;
        value = (float)(state >> 8) / (float)(1 << 23) - 1;
        memcpy(&bits, &value, sizeof bits);
        x[i] = (unsigned short)(bits >> 16);
    }
    return x;
}

static void *aligned(size_t bytes)
{
    void *x = NULL;

    assert_int_equal(posix_memalign(&x, 64, bytes + 64), 0);
    memset(x, 0xff, bytes + 64); /* not a number */
    return x;
}

/* ---- a convolution ---- */

typedef struct {
    convolution_shape s;
    size_t weights;
    unsigned short *x, *dy;
    double *expected; /* by the plain loop, from 0 */
} problem;

static double plain_gradient(const problem *p, int f, int c, int i, int j)
{
    const convolution_shape *s = &p->s;
    const int height = convolution_out_height(s), width = convolution_out_width(s);
    double sum = 0;

    for (int n = 0; n < s->images; n++)
        for (int y = 0; y < height * width; y++) {
            const int row = y / width * s->stride_y - s->pad + i * s->dilation;
            const int column = y % width * s->stride_x - s->pad + j * s->dilation;

            if (row >= 0 && row < s->height && column >= 0 && column < s->width)
                sum +=
                    (double)float_of(p->dy[(n * height * width + y) * s->filters + f])
                    * float_of(p->x[((n * s->height + row) * s->width + column) * s->channels + c]);
        }
    return sum;
}

static void init_problem(problem *p, const convolution_shape *s)
{
    const int window = s->size * s->size;

    p->s = *s;
    p->weights = (size_t)(s->filters * s->channels * window);
    p->x = random_halves((size_t)(s->images * s->channels * s->height * s->width), 1);
    p->dy = random_halves(
        (size_t)(s->images * s->filters * convolution_out_height(s) * convolution_out_width(s)), 2);
    p->expected = test_calloc(p->weights, sizeof *p->expected);
    for (size_t w = 0; w < p->weights; w++) {
        const int f = (int)w / window / s->channels, c = (int)w / window % s->channels;

        p->expected[w] = plain_gradient(p, f, c, (int)w % window / s->size, (int)w % s->size);
    }
}

static void release_problem(problem *p)
{
    test_free(p->x);
    test_free(p->dy);
    test_free(p->expected);
}

/* The gradients that a call adds to 0, 1, ... 6, 0, 1, ... */
static float *computed(const problem *p, gradients_way way, int threads)
{
    float *gradients = test_malloc(p->weights * sizeof *gradients);
    void *scratch = aligned(gradients_scratch_bytes(&p->s, way));

    if (omp_set_num_threads)
        omp_set_num_threads(threads);
    for (size_t i = 0; i < p->weights; i++)
        gradients[i] = (float)(i % 7);
    gradients_add(&p->s, way, p->x, p->dy, gradients, scratch);
    if (omp_set_num_threads)
        omp_set_num_threads(1);
    free(scratch);
    return gradients;
}

/* Each gradient has a small error of its sum. */
static void check_each(const problem *p, gradients_way way, const float *once)
{
    for (size_t i = 0; i < p->weights; i++) {
        const double expected = p->expected[i] + (double)(i % 7);

        if (!(fabs(once[i] - expected) <= 1e-5 * (fabs(expected) + 10)))
            fail_msg("way %d, %d channels of %dx%d, window %d: gradient %zu is %g, not %g",
                     (int)way, p->s.channels, p->s.height, p->s.width, p->s.size, i,
                     (double)once[i], expected);
    }
}

/* Winograd's values are rounded to bf16: the error of the gradients of each weight of the window
 * is some thousandths of their norm. A tile at a border that is wrong would make it several times
 * as large. */
static void check_norms(const problem *p, gradients_way way, const float *once)
{
    const size_t window = (size_t)(p->s.size * p->s.size);

    for (size_t w = 0; w < window; w++) {
        double wrong = 0, all = 0;

        for (size_t i = w; i < p->weights; i += window) {
            const double error = once[i] - (double)(i % 7) - p->expected[i];

            wrong += error * error;
            all += p->expected[i] * p->expected[i];
        }
        if (!(wrong <= .008 * .008 * all))
            fail_msg("way %d, %d channels of %dx%d, weight %zu of the window: error of %g",
                     (int)way, p->s.channels, p->s.height, p->s.width, w, sqrt(wrong / all));
    }
}

static void check_way(const problem *p, gradients_way way)
{
    const int by_rows = way != GRADIENTS_AMX && winograd_rows_suit(&p->s);
    float *once = computed(p, way, 1);

    (by_rows ? check_norms : check_each)(p, way, once);
    for (int threads = 2; threads <= 3; threads++) {
        float *again = computed(p, way, threads);

        assert_memory_equal(once, again, p->weights * sizeof *once);
        test_free(again);
    }
    test_free(once);
}

static void check_all(gradients_way way)
{
    for (int i = 0; i < SHAPES; i++) {
        problem p;

        init_problem(&p, &shapes[i]);
        check_way(&p, way);
        release_problem(&p);
    }
}

static void floats_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    check_all(GRADIENTS_PLAIN);
}

static void bf16_is_that_of_a_plain_loop(void **state)
{
    (void)state;
    if (!convolution_has_bf16())
        skip();
    check_all(GRADIENTS_BF16);
}

static void amx_is_that_of_a_plain_loop(void **state)
{
    (void)state;
    if (!convolution_has_amx())
        skip();
    check_all(GRADIENTS_AMX);
}

static void fewer_images_fit_into_the_scratch_memory(void **state)
{
    convolution_shape s = SHAPE(8, 32, 5, 5, 64, 1, 1, 1, 0, 1); /* an odd width */
    const size_t most = gradients_scratch_bytes(&s, GRADIENTS_PLAIN);
    problem p;

    (void)state;
    s.images = 7;
    assert_true(gradients_scratch_bytes(&s, GRADIENTS_PLAIN) <= most);
    init_problem(&p, &s);
    check_way(&p, GRADIENTS_PLAIN);
    release_problem(&p);
}

static void the_fastest_way_is_one_that_the_cpu_has(void **state)
{
    (void)state;
    if (convolution_has_amx())
        assert_int_equal(gradients_fastest_way(), GRADIENTS_AMX);
    else
        assert_int_equal(gradients_fastest_way(),
                         convolution_has_bf16() ? GRADIENTS_BF16 : GRADIENTS_PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_those_of_a_plain_loop),
        cmocka_unit_test(bf16_is_that_of_a_plain_loop),
        cmocka_unit_test(amx_is_that_of_a_plain_loop),
        cmocka_unit_test(fewer_images_fit_into_the_scratch_memory),
        cmocka_unit_test(the_fastest_way_is_one_that_the_cpu_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
