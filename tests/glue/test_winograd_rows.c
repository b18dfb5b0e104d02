/* ddp-test: quick */
/* Winograd's algorithm along rows (layers/winograd/rows.h) beside a plain loop in double. */
#include "../unit/numbers.h"
#include "layers/onednn/half.h"
#include "layers/winograd/rows.h"
#include "layers/winograd/winograd.h"

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

#define SHAPE(n, c, h, w, f, p)                                                                    \
    {                                                                                              \
        .images = (n), .channels = (c), .height = (h), .width = (w), .filters = (f), .size = 3,    \
        .stride_x = 1, .stride_y = 1, .pad = (p), .dilation = 1, .groups = 1, .activation = LINEAR \
    }
static const convolution_shape shapes[] = {
    SHAPE(4, 32, 8, 8, 32, 1),   /* whole tiles; several images in a block */
    SHAPE(4, 64, 13, 7, 96, 1),  /* the last tile reaches behind the image */
    SHAPE(2, 32, 9, 10, 64, 0),  /* no pad */
    SHAPE(2, 64, 7, 9, 32, 2),   /* a pad of 2 */
    SHAPE(2, 32, 70, 61, 32, 1), /* several blocks of each image */
    SHAPE(1, 32, 8, 1100, 32, 1) /* a row of more tiles than a block has */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], WINDOW = 9 };

/* ---- values ---- */

/* bf16 numbers from -1 to 1. */
static unsigned short *random_halves(size_t count, uint32_t state)
{
    unsigned short *x = NULL;

    assert_int_equal(posix_memalign((void **)&x, 64, count * sizeof *x + 64), 0);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = half_of_float((float)(state >> 8) / (float)(1 << 23) - 1);
    }
    return x;
}

static float *random_floats(size_t count, uint32_t state)
{
    float *x = test_malloc(count * sizeof *x);

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) / (float)(1 << 23) - 1;
    }
    return x;
}

/* Memory that holds NaN. */
static void *no_values(size_t bytes)
{
    void *x = NULL;

    assert_int_equal(posix_memalign(&x, 64, bytes + 64), 0);
    return memset(x, 0xff, bytes);
}

/* A convolution, and one that computes dx from dy: the latter's x is dy. */
typedef struct {
    convolution_shape s;
    int is_backward, has_bias;
    size_t x_count, y_count;
    unsigned short *x, *held; /* held: what y holds before */
    float *weights, *bias;
} problem;

static void init_problem(problem *p, const convolution_shape *s, int is_backward)
{
    const size_t weights = (size_t)(s->filters * s->channels * WINDOW);

    memset(p, 0, sizeof *p);
    p->s = is_backward ? winograd_backward_shape(s) : *s;
    p->is_backward = is_backward;
    p->has_bias = !is_backward;
    if (is_backward)
        p->s.sum = CONVOLUTION_SUM_AFTER;
    p->x_count = (size_t)(p->s.images * p->s.channels * p->s.height * p->s.width);
    p->y_count = (size_t)(p->s.images * p->s.filters * convolution_out_height(&p->s)
                          * convolution_out_width(&p->s));
    p->x = random_halves(p->x_count, 1);
    p->held = random_halves(p->y_count, 2);
    p->weights = random_floats(weights, 3);
    p->bias = random_floats((size_t)p->s.filters, 4);
}

static void release_problem(problem *p)
{
    free(p->x);
    free(p->held);
    test_free(p->weights);
    test_free(p->bias);
}

static unsigned short *compute(const problem *p, int has_bf16)
{
    void *packed = no_values(winograd_rows_packed_bytes(&p->s));
    void *scratch = no_values(winograd_rows_scratch(&p->s));
    unsigned short *y = no_values(p->y_count * sizeof *y);

    if (p->s.sum != CONVOLUTION_SUM_NONE)
        memcpy(y, p->held, p->y_count * sizeof *y);
    winograd_rows_pack(&p->s, p->weights, p->is_backward, packed);
    winograd_rows_convolve(&p->s, has_bf16, packed, p->has_bias ? p->bias : NULL, p->x, y, scratch);
    free(packed);
    free(scratch);
    return y;
}

/* ---- a plain loop ---- */

/* The weight of row i and column j of the window. */
static double weight_of(const problem *p, int filter, int channel, int i, int j)
{
    const int at = p->is_backward ? ((channel * p->s.filters + filter) * 3 + 2 - i) * 3 + 2 - j
                                  : ((filter * p->s.channels + channel) * 3 + i) * 3 + j;

    return p->weights[at];
}

static double plain_value(const problem *p, int image, int row, int column, int filter)
{
    const convolution_shape *s = &p->s;
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int y = row + i - s->pad, x = column + j - s->pad;
            const size_t pixel = (size_t)((image * s->height + y) * s->width + x);

            if (y < 0 || y >= s->height || x < 0 || x >= s->width)
                continue;
            for (int c = 0; c < s->channels; c++)
                sum += (double)half_to_float(p->x[pixel * (size_t)s->channels + (size_t)c])
                       * weight_of(p, filter, c, i, j);
        }
    }
    return sum;
}

/* The values of a column of all images are right: the error, by rounding, is some thousandths of
 * their norm. A wrong pixel at a border would make it several times as large. */
static void check_column(const problem *p, int column, const unsigned short *y)
{
    const int height = convolution_out_height(&p->s), width = convolution_out_width(&p->s);
    double wrong = 0, all = 0;

    for (int r = 0; r < p->s.images * height; r++) {
        for (int f = column % 5; f < p->s.filters; f += 5) {
            const size_t at = (size_t)(r * width + column) * (size_t)p->s.filters + (size_t)f;
            const double held = half_to_float(p->held[at]);
            double expected = plain_value(p, r / height, r % height, column, f), error;

            expected += p->has_bias ? p->bias[f] : 0;
            expected += p->s.sum == CONVOLUTION_SUM_BEFORE ? held : 0;
            if (p->s.activation != LINEAR)
                expected = activate((float)expected, p->s.activation);
            expected += p->s.sum == CONVOLUTION_SUM_AFTER ? held : 0;
            error = half_to_float(y[at]) - expected;
            wrong += error * error;
            all += expected * expected;
        }
    }
    if (!(wrong <= .012 * .012 * all))
        fail_msg("%d channels of %dx%d, pad %d: column %d has an error of %g", p->s.channels,
                 p->s.height, p->s.width, p->s.pad, column, sqrt(wrong / all));
}

static void check(const problem *p, int has_bf16)
{
    unsigned short *once = compute(p, has_bf16);

    for (int column = 0; column < convolution_out_width(&p->s); column++)
        check_column(p, column, once);
    for (int threads = 2; omp_set_num_threads && threads <= 3; threads++) {
        unsigned short *again;

        omp_set_num_threads(threads);
        again = compute(p, has_bf16);
        omp_set_num_threads(1);
        assert_memory_equal(once, again, p->y_count * sizeof *once);
        free(again);
    }
    free(once);
}

static void check_all(int has_bf16)
{
    for (int i = 0; i < SHAPES; i++) {
        for (int is_backward = 0; is_backward <= 1; is_backward++) {
            problem p;

            init_problem(&p, &shapes[i], is_backward);
            assert_true(winograd_rows_suit(&p.s));
            check(&p, has_bf16);
            release_problem(&p);
        }
    }
}

static void floats_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    check_all(0);
}

static void bf16_is_that_of_a_plain_loop(void **state)
{
    (void)state;
    if (!convolution_has_bf16())
        skip();
    check_all(1);
}

static void activations_and_sums_are_computed(void **state)
{
    const ACTIVATION activations[] = {LEAKY, RELU, MISH};

    (void)state;
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        for (int before = 0; before <= 1; before++) {
            problem p;

            init_problem(&p, &shapes[1], 0);
            p.s.activation = activations[i];
            p.s.sum = before ? CONVOLUTION_SUM_BEFORE : CONVOLUTION_SUM_AFTER;
            check(&p, convolution_has_bf16());
            release_problem(&p);
        }
    }
}

static void an_image_has_the_same_bits_alone(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        problem p;
        unsigned short *all, *alone;

        init_problem(&p, &shapes[i], 0);
        all = compute(&p, convolution_has_bf16());
        p.y_count /= (size_t)p.s.images;
        p.s.images = 1;
        alone = compute(&p, convolution_has_bf16());
        assert_memory_equal(all, alone, p.y_count * sizeof *all);
        free(all);
        free(alone);
        release_problem(&p);
    }
}

static void other_shapes_do_not_suit(void **state)
{
    const convolution_shape good = shapes[0];
    convolution_shape s = good;

    (void)state;
    s.stride_x = 2;
    assert_false(winograd_rows_suit(&s));
    s = good;
    s.dilation = 2;
    assert_false(winograd_rows_suit(&s));
    s = good;
    s.groups = 2;
    assert_false(winograd_rows_suit(&s));
    s = good;
    s.channels = 48;
    assert_false(winograd_rows_suit(&s));
    s = good;
    s.filters = 16;
    assert_false(winograd_rows_suit(&s));
    s = good;
    s.size = 1;
    s.pad = 0;
    assert_false(winograd_rows_suit(&s));
    s = good;
    s.width = 6;
    assert_false(winograd_rows_suit(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_those_of_a_plain_loop),
        cmocka_unit_test(bf16_is_that_of_a_plain_loop),
        cmocka_unit_test(activations_and_sums_are_computed),
        cmocka_unit_test(an_image_has_the_same_bits_alone),
        cmocka_unit_test(other_shapes_do_not_suit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
