/* ddp-test: quick */
/* Winograd's algorithm (layers/inference/winograd.h) beside a plain loop in double. Its activations
 * and sums are tested in test_inference.c. */
#include "layers/inference/winograd.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

void omp_set_num_threads(int count);

#define SHAPE(n, c, h, w, f, p)                                                                    \
    {                                                                                              \
        .images = (n), .channels = (c), .height = (h), .width = (w), .filters = (f), .size = 3,    \
        .stride_x = 1, .stride_y = 1, .pad = (p), .dilation = 1, .groups = 1, .has_bias = 1,       \
        .activation = LINEAR                                                                       \
    }
static const struct {
    convolution_shape shape;
    int side; /* of a tile */
} shapes[] = {
    {SHAPE(4, 16, 8, 8, 16, 1), 2},
    {SHAPE(4, 32, 13, 9, 48, 1), 2}, /* the last tiles reach beyond the image */
    {SHAPE(4, 48, 12, 10, 16, 0), 2},
    {SHAPE(4, 16, 40, 15, 16, 1), 2}, /* a narrow image, several blocks */
    {SHAPE(4, 32, 16, 16, 16, 1), 4},
    {SHAPE(4, 16, 17, 19, 48, 1), 4},
    {SHAPE(4, 16, 21, 20, 16, 0), 4},
    {SHAPE(4, 16, 16, 18, 16, 2), 4},
    {SHAPE(4, 16, 18, 16, 528, 1), 4}, /* panels of 256, 256 and 16 filters */
    {SHAPE(4, 64, 45, 46, 32, 1), 4},  /* several blocks of tiles in each image */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* ---- values ---- */

static float *random_values(size_t count, uint32_t state)
{
    float *x = NULL;

    assert_int_equal(posix_memalign((void **)&x, 64, (count + 16) * sizeof *x), 0);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) / (float)(1 << 23) - 1;
    }
    return x;
}

typedef struct {
    convolution_shape s;
    size_t x_count, y_count;
    float *x, *weights, *bias, *packed;
} problem;

static void init_problem(problem *p, const convolution_shape *s)
{
    const size_t weights = (size_t)(s->filters * s->channels * 9);

    p->s = *s;
    p->x_count = (size_t)(s->images * s->channels * s->height * s->width);
    p->y_count =
        (size_t)(s->images * s->filters * convolution_out_height(s) * convolution_out_width(s));
    p->x = random_values(p->x_count, 1);
    p->weights = random_values(weights, 2);
    p->bias = random_values((size_t)s->filters, 3);
    p->packed = random_values(winograd_packed_bytes(s) / sizeof(float), 5);
    winograd_pack(s, p->weights, p->packed);
}

static void release_problem(problem *p)
{
    free(p->x);
    free(p->weights);
    free(p->bias);
    free(p->packed);
}

/* y of the shape, `slice` images at once. Memory that nothing sets holds NaN. */
static float *compute(const problem *p, int slice)
{
    convolution_shape s = p->s;
    float *y = random_values(p->y_count, 6), *scratch;
    const size_t x_each = p->x_count / (size_t)s.images, y_each = p->y_count / (size_t)s.images;

    memset(y, 0xff, p->y_count * sizeof *y);
    s.images = slice;
    scratch = random_values(winograd_scratch_bytes(&s) / sizeof *scratch, 7);
    memset(scratch, 0xff, winograd_scratch_bytes(&s));
    for (size_t i = 0; i < (size_t)p->s.images; i += (size_t)slice)
        winograd_forward(&s, p->packed, p->bias, p->x + i * x_each, y + i * y_each, scratch);
    free(scratch);
    return y;
}

/* ---- a plain loop ---- */

static double plain_value(const problem *p, size_t at)
{
    const convolution_shape *s = &p->s;
    const int width = convolution_out_width(s), height = convolution_out_height(s);
    const int f = (int)(at % (size_t)s->filters), pixel = (int)(at / (size_t)s->filters);
    const int image = pixel / (width * height);
    double sum = (double)p->bias[f];

    for (int i = 0; i < 9; i++) {
        const int r = pixel / width % height - s->pad + i / 3, c = pixel % width - s->pad + i % 3;

        for (int k = 0; k < s->channels && r >= 0 && r < s->height && c >= 0 && c < s->width; k++)
            sum += (double)p->x[((image * s->height + r) * s->width + c) * s->channels + k]
                   * (double)p->weights[(f * s->channels + k) * 9 + i];
    }
    return sum;
}

/* The greatest difference from the plain loop, as a share of the values' root mean square. */
static double error_of(const problem *p, const float *y)
{
    double greatest = 0, squares = 0;

    for (size_t i = 0; i < p->y_count; i++) {
        const double expected = plain_value(p, i), d = fabs((double)y[i] - expected);

        if (!(d <= greatest))
            greatest = d;
        squares += expected * expected;
    }
    return greatest / sqrt(squares / (double)p->y_count);
}

/* ---- tests ---- */

static void values_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        problem p;
        float *y;
        double error;

        assert_true(winograd_suits(&shapes[i].shape));
        assert_int_equal(winograd_tile_side(&shapes[i].shape), shapes[i].side);
        init_problem(&p, &shapes[i].shape);
        y = compute(&p, p.s.images);
        error = error_of(&p, y);
        if (!(error <= (shapes[i].side == 4 ? 1e-5 : 2e-6)))
            fail_msg("shape %d: differs by %g", i, error);
        free(y);
        release_problem(&p);
    }
}

static void mish_of_great_numbers_is_finite(void **state)
{
    problem p;
    float *y;

    (void)state;
    init_problem(&p, &shapes[0].shape);
    p.s.activation = MISH;
    for (int f = 0; f < p.s.filters; f++)
        p.bias[f] = f % 2 ? 1e4f : -1e4f;
    y = compute(&p, p.s.images);
    for (size_t i = 0; i < p.y_count; i++)
        assert_true(i % 2 ? y[i] > 9e3f && y[i] < 2e4f : fabsf(y[i]) < 1e-30f);
    free(y);
    release_problem(&p);
}

static void bits_depend_neither_on_images_nor_on_threads(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        problem p;
        float *first;

        init_problem(&p, &shapes[i].shape);
        first = compute(&p, p.s.images);
        for (int threads = 1; threads <= 3; threads++)
            for (int slice = 1; slice <= 4; slice *= 2) {
                float *y;

                omp_set_num_threads(threads);
                y = compute(&p, slice);
                if (memcmp(first, y, p.y_count * sizeof *y) != 0)
                    fail_msg("shape %d: y differs with %d images, %d threads", i, slice, threads);
                free(y);
            }
        omp_set_num_threads(1);
        free(first);
        release_problem(&p);
    }
}

static void other_shapes_do_not_suit(void **state)
{
    const convolution_shape good = SHAPE(1, 16, 8, 8, 16, 1);
    const size_t fields[] = {
        offsetof(convolution_shape, channels), offsetof(convolution_shape, filters),
        offsetof(convolution_shape, height),   offsetof(convolution_shape, width),
        offsetof(convolution_shape, size),     offsetof(convolution_shape, stride_x),
        offsetof(convolution_shape, stride_y), offsetof(convolution_shape, pad),
        offsetof(convolution_shape, dilation), offsetof(convolution_shape, groups),
        offsetof(convolution_shape, bf16)};
    const int values[] = {24, 255, 7, 7, 1, 2, 2, 0, 2, 2, 1};

    (void)state;
    assert_true(winograd_suits(&good));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        convolution_shape s = good;

        memcpy((char *)&s + fields[i], &values[i], sizeof values[i]);
        if (winograd_suits(&s))
            fail_msg("shape %zu suits", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_a_plain_loop),
        cmocka_unit_test(mish_of_great_numbers_is_finite),
        cmocka_unit_test(bits_depend_neither_on_images_nor_on_threads),
        cmocka_unit_test(other_shapes_do_not_suit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
