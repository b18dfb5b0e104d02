/* ddp-test: quick */
/* Winograd's algorithm (layers/winograd/winograd.h) beside a plain loop in double. Its activations
 * and sums are tested in test_inference.c. */
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
    float *x, *weights, *bias, *packed, *dy;
} problem;

static size_t weight_count(const convolution_shape *s)
{
    return (size_t)(s->filters * s->channels * 9);
}

static void init_problem(problem *p, const convolution_shape *s)
{
    p->s = *s;
    p->x_count = (size_t)(s->images * s->channels * s->height * s->width);
    p->y_count =
        (size_t)(s->images * s->filters * convolution_out_height(s) * convolution_out_width(s));
    p->x = random_values(p->x_count, 1);
    p->weights = random_values(weight_count(s), 2);
    p->dy = random_values(p->y_count, 4);
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
    free(p->dy);
}

/* Memory that holds NaN. */
static float *no_values(size_t bytes)
{
    float *x = random_values(bytes / sizeof *x, 7);

    memset(x, 0xff, bytes);
    return x;
}

/* y of the shape. */
static float *compute(const problem *p)
{
    float *y = no_values(p->y_count * sizeof *y);
    float *scratch = no_values(winograd_forward_scratch(&p->s));

    winograd_forward(&p->s, p->packed, p->bias, p->x, y, scratch);
    free(scratch);
    return y;
}

/* dx of the shape, if dy is p->dy. */
static float *compute_dx(const problem *p)
{
    const convolution_shape back = winograd_backward_shape(&p->s);
    float *packed = no_values(winograd_packed_bytes(&back));
    float *scratch = no_values(winograd_forward_scratch(&back));
    float *dx = no_values(p->x_count * sizeof *dx);

    winograd_pack_backward(&back, p->weights, packed);
    winograd_forward(&back, packed, NULL, p->dy, dx, scratch);
    free(packed);
    free(scratch);
    return dx;
}

/* Gradients of weights, if dy is p->dy: the first images in a call of their own. They are added to
 * the weights, which stand for what the gradients held. */
static float *compute_gradients(const problem *p)
{
    const size_t x_each = p->x_count / (size_t)p->s.images;
    const size_t y_each = p->y_count / (size_t)p->s.images;
    const size_t bytes = weight_count(&p->s) * sizeof(float);
    float *sums = no_values(winograd_sums_bytes(&p->s));
    float *scratch = no_values(winograd_sums_scratch(&p->s)), *gradients = no_values(bytes);
    convolution_shape first = p->s, rest = p->s;

    first.images = 1;
    rest.images -= 1;
    memcpy(gradients, p->weights, bytes);
    winograd_sum_products(&first, p->x, p->dy, 1, sums, scratch);
    winograd_sum_products(&rest, p->x + x_each, p->dy + y_each, 0, sums, scratch);
    winograd_add_gradients(&p->s, sums, gradients);
    free(sums);
    free(scratch);
    return gradients;
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

/* The value at `at` of dx, and of the gradients of weights. */
static double plain_dx(const problem *p, size_t at)
{
    const convolution_shape *s = &p->s;
    const int width = convolution_out_width(s), height = convolution_out_height(s);
    const int k = (int)(at % (size_t)s->channels), pixel = (int)(at / (size_t)s->channels);
    const int image = pixel / (s->width * s->height);
    double sum = 0;

    for (int i = 0; i < 9; i++) {
        const int r = pixel / s->width % s->height + s->pad - i / 3;
        const int c = pixel % s->width + s->pad - i % 3;

        for (int f = 0; f < s->filters && r >= 0 && r < height && c >= 0 && c < width; f++)
            sum += (double)p->dy[((image * height + r) * width + c) * s->filters + f]
                   * (double)p->weights[(f * s->channels + k) * 9 + i];
    }
    return sum;
}

static double plain_gradient(const problem *p, size_t at)
{
    const convolution_shape *s = &p->s;
    const int width = convolution_out_width(s), height = convolution_out_height(s);
    const int i = (int)(at % 9), k = (int)(at / 9) % s->channels;
    const int f = (int)(at / 9) / s->channels;
    double sum = (double)p->weights[at];

    for (int pixel = 0; pixel < s->images * height * width; pixel++) {
        const int r = pixel / width % height - s->pad + i / 3, c = pixel % width - s->pad + i % 3;
        const int row = pixel / (width * height) * s->height + r;

        if (r >= 0 && r < s->height && c >= 0 && c < s->width)
            sum += (double)p->x[(row * s->width + c) * s->channels + k]
                   * (double)p->dy[pixel * s->filters + f];
    }
    return sum;
}

/* The greatest difference of `count` values from a plain loop, as a share of the values' root mean
 * square. */
static double error_of(const problem *p, double (*plain)(const problem *, size_t), const float *y,
                       size_t count)
{
    double greatest = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        const double expected = plain(p, i), d = fabs((double)y[i] - expected);

        if (!(d <= greatest))
            greatest = d;
        squares += expected * expected;
    }
    return greatest / sqrt(squares / (double)count);
}

static void assert_error(int shape, const char *what, double error, double most)
{
    if (!(error <= most))
        fail_msg("shape %d: %s differs by %g", shape, what, error);
}

/* ---- tests ---- */

static void values_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        const double most = shapes[i].side == 4 ? 1.5e-5 : 2e-6;
        problem p;
        float *y, *dx, *gradients;

        assert_true(winograd_suits(&shapes[i].shape));
        assert_int_equal(winograd_tile_side(&shapes[i].shape), shapes[i].side);
        init_problem(&p, &shapes[i].shape);
        y = compute(&p);
        dx = compute_dx(&p);
        gradients = compute_gradients(&p);
        assert_error(i, "y", error_of(&p, plain_value, y, p.y_count), most);
        assert_error(i, "dx", error_of(&p, plain_dx, dx, p.x_count), most);
        assert_error(i, "a gradient", error_of(&p, plain_gradient, gradients, weight_count(&p.s)),
                     most);
        free(y);
        free(dx);
        free(gradients);
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
    y = compute(&p);
    for (size_t i = 0; i < p.y_count; i++)
        assert_true(i % 2 ? y[i] > 9e3f && y[i] < 2e4f : fabsf(y[i]) < 1e-30f);
    free(y);
    release_problem(&p);
}

static void bits_do_not_depend_on_threads(void **state)
{
    float *(*const passes[])(const problem *) = {compute, compute_dx, compute_gradients};

    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int pass = 0; pass < 3; pass++) {
            problem p;
            size_t bytes;
            float *first;

            init_problem(&p, &shapes[i].shape);
            bytes = (pass == 0   ? p.y_count
                     : pass == 1 ? p.x_count
                                 : weight_count(&p.s))
                    * sizeof(float);
            first = passes[pass](&p);
            for (int threads = 2; threads <= 3; threads++) {
                float *values;

                omp_set_num_threads(threads);
                values = passes[pass](&p);
                if (memcmp(first, values, bytes) != 0)
                    fail_msg("shape %d, pass %d: other bits with %d threads", i, pass, threads);
                free(values);
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
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(other_shapes_do_not_suit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
