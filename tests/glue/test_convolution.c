/* ddp-test: quick */
/* Convolutions by oneDNN (layers/onednn/convolution.h) beside a plain loop in double. */
#include "../unit/numbers.h"
#define DNNL 1 /* built where oneDNN is installed: tests/CMakeLists.txt */
#include "layers/onednn/handle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* oneDNN's threads; Darknet's own loops are none of this. */
void omp_set_num_threads(int count);

#define SHAPE(n, c, h, w, f, s, across, down, p, d, g)                                             \
    {                                                                                              \
        .images = (n), .channels = (c), .height = (h), .width = (w), .filters = (f), .size = (s),  \
        .stride_x = (across), .stride_y = (down), .pad = (p), .dilation = (d), .groups = (g)       \
    }
static const convolution_shape shapes[] = {
    SHAPE(2, 3, 13, 17, 8, 3, 1, 1, 1, 1, 1),  /* as a first layer, odd sides */
    SHAPE(2, 3, 16, 16, 16, 7, 2, 2, 3, 1, 1), /* ResNet's first */
    SHAPE(3, 16, 9, 11, 24, 3, 1, 1, 1, 1, 1),   SHAPE(2, 16, 12, 10, 32, 3, 2, 2, 1, 1, 1),
    SHAPE(2, 8, 11, 9, 16, 3, 2, 1, 0, 1, 1),    /* unlike strides, no pad */
    SHAPE(2, 16, 13, 13, 16, 3, 1, 1, 2, 2, 1),  /* dilation */
    SHAPE(2, 32, 7, 7, 64, 1, 1, 1, 0, 1, 1),    /* pixels */
    SHAPE(2, 32, 8, 8, 16, 1, 2, 2, 0, 1, 1),    /* pixels with a stride */
    SHAPE(2, 5, 8, 8, 7, 5, 1, 1, 2, 1, 1),      /* numbers of channels that no vector has */
    SHAPE(2, 16, 10, 10, 32, 3, 1, 1, 1, 1, 4),  /* groups */
    SHAPE(2, 16, 10, 10, 16, 3, 2, 2, 1, 1, 16), /* one channel a group */
    SHAPE(2, 64, 4, 4, 255, 1, 1, 1, 0, 1, 1),   /* as before a [yolo] */
    SHAPE(1, 4, 6, 6, 4, 2, 2, 2, 0, 1, 1),      /* an even window */
};
/* Of sizes that oneDNN cuts into blocks. */
static const convolution_shape large[] = {
    SHAPE(4, 128, 26, 26, 128, 3, 1, 1, 1, 1, 1), SHAPE(4, 512, 4, 4, 1024, 3, 1, 1, 1, 1, 1),
    SHAPE(4, 1024, 13, 13, 512, 1, 1, 1, 0, 1, 1), SHAPE(4, 32, 52, 52, 64, 3, 2, 2, 1, 1, 1),
    SHAPE(4, 3, 128, 128, 32, 3, 1, 1, 1, 1, 1)};
enum { SHAPES = sizeof shapes / sizeof shapes[0], LARGE = sizeof large / sizeof large[0] };

/* ---- values ---- */

static unsigned short half_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float float_of(unsigned short half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Values that bf16 has, so that both types multiply the same numbers. */
static float *random_values(size_t count, unsigned seed)
{
    float *x = test_malloc(count * sizeof *x);
    uint32_t state = seed * 2654435761U + 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = float_of(half_of((float)(state >> 8) / (float)(1 << 23) - 1));
    }
    return x;
}

static void *aligned(size_t bytes)
{
    void *x = NULL;

    assert_int_equal(posix_memalign(&x, 64, bytes + 64), 0);
    memset(x, 0, bytes + 64);
    return x;
}

/* x in the type of s. */
static void *stored(const convolution_shape *s, const float *x, size_t count)
{
    void *out = aligned(count * sizeof(float));

    for (size_t i = 0; i < count; i++) {
        if (s->bf16)
            ((unsigned short *)out)[i] = half_of(x[i]);
        else
            ((float *)out)[i] = x[i];
    }
    return out;
}

static double value(const convolution_shape *s, const void *x, size_t i)
{
    return s->bf16 ? float_of(((const unsigned short *)x)[i]) : ((const float *)x)[i];
}

static size_t bytes_of(const convolution_shape *s, size_t count)
{
    return count * (s->bf16 ? sizeof(unsigned short) : sizeof(float));
}

/* ---- one convolution and its plain loop ---- */

typedef struct {
    convolution_shape s;
    size_t x_count, y_count, weights_count;
    float *x, *dy, *weights;
    double *y, *dx, *gradients; /* by the plain loop */
} problem;

/* Add one product of a value of x and a weight. */
static void add_product(problem *p, size_t x, size_t w, size_t y)
{
    p->y[y] += (double)p->x[x] * p->weights[w];
    p->dx[x] += (double)p->dy[y] * p->weights[w];
    p->gradients[w] += (double)p->dy[y] * p->x[x];
}

/* Add all products that make one value of y. */
static void each_of_window(problem *p, int image, int row, int column, int f)
{
    const convolution_shape *s = &p->s;
    const int channels = s->channels / s->groups, width = convolution_out_width(s);
    const int first = f / (s->filters / s->groups) * channels;
    const int y = ((image * convolution_out_height(s) + row) * width + column) * s->filters + f;

    for (int i = 0; i < s->size; i++)
        for (int j = 0; j < s->size; j++) {
            const int r = row * s->stride_y - s->pad + i * s->dilation;
            const int c = column * s->stride_x - s->pad + j * s->dilation;

            for (int k = 0; k < channels && r >= 0 && r < s->height && c >= 0 && c < s->width; k++)
                add_product(
                    p, (size_t)(((image * s->height + r) * s->width + c) * s->channels + first + k),
                    (size_t)(((f * channels + k) * s->size + i) * s->size + j), (size_t)y);
        }
}

static void init_problem(problem *p, const convolution_shape *s, int bf16)
{
    p->s = *s;
    p->s.bf16 = bf16;
    p->s.activation = LINEAR;
    p->x_count = (size_t)(s->images * s->channels * s->height * s->width);
    p->y_count =
        (size_t)(s->images * s->filters * convolution_out_height(s) * convolution_out_width(s));
    p->weights_count = (size_t)(s->filters * s->channels / s->groups * s->size * s->size);
    p->x = random_values(p->x_count, 1);
    p->dy = random_values(p->y_count, 2);
    p->weights = random_values(p->weights_count, 3);
    p->y = test_calloc(p->y_count, sizeof *p->y);
    p->dx = test_calloc(p->x_count, sizeof *p->dx);
    p->gradients = test_calloc(p->weights_count, sizeof *p->gradients);
}

static void compute_plainly(problem *p)
{
    const convolution_shape *s = &p->s;

    for (int image = 0; image < s->images; image++)
        for (int row = 0; row < convolution_out_height(s); row++)
            for (int column = 0; column < convolution_out_width(s); column++)
                for (int f = 0; f < s->filters; f++)
                    each_of_window(p, image, row, column, f);
}

static void release_problem(problem *p)
{
    test_free(p->x);
    test_free(p->dy);
    test_free(p->weights);
    test_free(p->y);
    test_free(p->dx);
    test_free(p->gradients);
}

static convolution *handle_of(const convolution_shape *s)
{
    convolution *c = convolution_of(s);

    assert_non_null(c);
    return c;
}

static void expect_near(const convolution_shape *s, const void *x, const double *expected,
                        size_t count, double scale)
{
    const double relative = s->bf16 ? 1.0 / 128 : 1e-5;

    for (size_t i = 0; i < count; i++)
        if (!(fabs(value(s, x, i) - expected[i]) <= relative * (fabs(expected[i]) + scale)))
            fail_msg("bf16=%d, activation %d, sum %d, value %zu: %g, not %g", s->bf16,
                     (int)s->activation, (int)s->sum, i, value(s, x, i), expected[i]);
}

static void *packed_weights(convolution *c, const problem *p, convolution_pass pass)
{
    void *packed = aligned(convolution_packed_bytes(c, pass));

    convolution_pack(c, pass, p->weights, packed);
    return packed;
}

/* ---- each pass ---- */

static void check_forward(problem *p, convolution *c)
{
    void *packed = packed_weights(c, p, CONVOLUTION_FORWARD);
    void *scratch = aligned(convolution_scratch_bytes(c, CONVOLUTION_FORWARD));
    void *x = stored(&p->s, p->x, p->x_count), *y = aligned(p->y_count * sizeof(float));

    convolution_forward(c, packed, NULL, x, y, scratch);
    expect_near(&p->s, y, p->y, p->y_count, .5);
    free(packed);
    free(scratch);
    free(x);
    free(y);
}

static void check_backward_data(problem *p, convolution *c)
{
    void *packed = packed_weights(c, p, CONVOLUTION_BACKWARD_DATA);
    void *scratch = aligned(convolution_scratch_bytes(c, CONVOLUTION_BACKWARD_DATA));
    void *dy = stored(&p->s, p->dy, p->y_count), *dx = stored(&p->s, p->x, p->x_count);

    convolution_backward_data(c, packed, dy, dx, 0, scratch);
    expect_near(&p->s, dx, p->dx, p->x_count, .5);
    convolution_backward_data(c, packed, dy, dx, 1, scratch);
    for (size_t i = 0; i < p->x_count; i++)
        p->dx[i] *= 2;
    expect_near(&p->s, dx, p->dx, p->x_count, .5);
    free(packed);
    free(scratch);
    free(dy);
    free(dx);
}

static void check_backward_weights(problem *p, convolution *c)
{
    const convolution_shape floats = {.bf16 = 0};
    void *scratch = aligned(convolution_scratch_bytes(c, CONVOLUTION_BACKWARD_WEIGHTS));
    void *x = stored(&p->s, p->x, p->x_count), *dy = stored(&p->s, p->dy, p->y_count);
    float *gradients = test_malloc(p->weights_count * sizeof *gradients);
    double *expected = test_malloc(p->weights_count * sizeof *expected);

    for (size_t i = 0; i < p->weights_count; i++) {
        gradients[i] = (float)(i % 7);
        expected[i] = p->gradients[i] + (double)(i % 7);
    }
    convolution_backward_weights(c, x, dy, gradients, scratch);
    expect_near(&floats, gradients, expected, p->weights_count, 10);
    test_free(gradients);
    test_free(expected);
    free(scratch);
    free(x);
    free(dy);
}

static void check_shape(const convolution_shape *s, int bf16)
{
    problem p;
    convolution *c;

    init_problem(&p, s, bf16);
    compute_plainly(&p);
    c = handle_of(&p.s);
    assert_ptr_equal(c, convolution_of(&p.s));
    check_forward(&p, c);
    check_backward_data(&p, c);
    check_backward_weights(&p, c);
    release_problem(&p);
}

static void floats_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        check_shape(&shapes[i], 0);
}

static void bf16_is_that_of_a_plain_loop(void **state)
{
    (void)state;
    if (!convolution_has_bf16())
        skip();
    for (int i = 0; i < SHAPES; i++)
        check_shape(&shapes[i], 1);
}

/* ---- bits ---- */

/* Forward and backward by data of all images in slices, on so many threads; out: y, then dx. */
static void run_in_slices(const problem *p, int slice, int threads, char *y, char *dx)
{
    convolution_shape s = p->s;
    char *x = stored(&p->s, p->x, p->x_count), *dy = stored(&p->s, p->dy, p->y_count);
    convolution *c;
    void *forward, *backward, *scratch;
    const size_t x_bytes = bytes_of(&s, p->x_count / (size_t)s.images);
    const size_t y_bytes = bytes_of(&s, p->y_count / (size_t)s.images);

    omp_set_num_threads(threads);
    s.images = slice;
    c = handle_of(&s);
    forward = packed_weights(c, p, CONVOLUTION_FORWARD);
    backward = packed_weights(c, p, CONVOLUTION_BACKWARD_DATA);
    scratch = aligned(convolution_scratch_bytes(c, CONVOLUTION_BACKWARD_DATA)
                      + convolution_scratch_bytes(c, CONVOLUTION_FORWARD));
    for (size_t i = 0; i < (size_t)p->s.images; i += (size_t)slice) {
        convolution_forward(c, forward, NULL, x + i * x_bytes, y + i * y_bytes, scratch);
        for (int add = 0; add < 2; add++)
            convolution_backward_data(c, backward, dy + i * y_bytes, dx + i * x_bytes, add,
                                      scratch);
    }
    omp_set_num_threads(1);
    free(forward);
    free(backward);
    free(scratch);
    free(x);
    free(dy);
}

static void check_bits(const convolution_shape *s, int bf16)
{
    const int slices[] = {4, 2, 1};
    problem p;
    char *y[2], *dx[2];

    init_problem(&p, s, bf16);
    for (int i = 0; i < 2; i++) {
        y[i] = aligned(p.y_count * sizeof(float));
        dx[i] = aligned(p.x_count * sizeof(float));
    }
    for (int i = 0; i < 3; i++)
        for (int threads = 1; threads <= 2; threads++) {
            const int k = i || threads > 1;

            run_in_slices(&p, slices[i], threads, y[k], dx[k]);
            if (k && memcmp(y[0], y[1], bytes_of(&p.s, p.y_count)) != 0)
                fail_msg("y differs: bf16=%d, %d images at once, %d threads", bf16, slices[i],
                         threads);
            if (k && memcmp(dx[0], dx[1], bytes_of(&p.s, p.x_count)) != 0)
                fail_msg("dx differs: bf16=%d, %d images at once, %d threads", bf16, slices[i],
                         threads);
        }
    for (int i = 0; i < 2; i++) {
        free(y[i]);
        free(dx[i]);
    }
    release_problem(&p);
}

static void bits_depend_neither_on_images_nor_on_threads(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES + LARGE; i++) {
        convolution_shape s = i < SHAPES ? shapes[i] : large[i - SHAPES];

        s.images = 4;
        check_bits(&s, 0);
        if (convolution_has_bf16())
            check_bits(&s, 1);
    }
}

/* ---- what a forward pass does last ---- */

static double plain_activation(ACTIVATION a, double x)
{
    switch (a) {
    case LEAKY:
        return x > 0 ? x : .1 * x;
    case RELU:
        return x > 0 ? x : 0;
    case LOGISTIC:
        return 1 / (1 + exp(-x));
    case MISH:
        return x * tanh(log1p(exp(x)));
    case SWISH:
        return x / (1 + exp(-x));
    default:
        return x;
    }
}

static void check_last(const convolution_shape *s, ACTIVATION a, convolution_sum sum, int bf16)
{
    problem p;
    convolution *c;
    float *bias, *before;
    void *packed, *scratch, *x, *y;

    init_problem(&p, s, bf16);
    compute_plainly(&p);
    p.s.has_bias = 1;
    p.s.activation = a;
    p.s.sum = sum;
    c = sum == CONVOLUTION_SUM_AFTER && a != LINEAR ? convolution_of(&p.s) : handle_of(&p.s);
    if (!c) { /* oneDNN 2 has only its reference for it on AVX2 */
        release_problem(&p);
        return;
    }
    bias = random_values((size_t)s->filters, 4);
    before = random_values(p.y_count, 5);
    packed = packed_weights(c, &p, CONVOLUTION_FORWARD);
    scratch = aligned(convolution_scratch_bytes(c, CONVOLUTION_FORWARD));
    x = stored(&p.s, p.x, p.x_count);
    y = stored(&p.s, before, p.y_count);
    for (size_t i = 0; i < p.y_count; i++) {
        p.y[i] += (double)bias[i % (size_t)s->filters]
                  + (sum == CONVOLUTION_SUM_BEFORE ? (double)before[i] : 0);
        p.y[i] =
            plain_activation(a, p.y[i]) + (sum == CONVOLUTION_SUM_AFTER ? (double)before[i] : 0);
    }
    convolution_forward(c, packed, bias, x, y, scratch);
    expect_near(&p.s, y, p.y, p.y_count, 1);
    test_free(bias);
    test_free(before);
    free(packed);
    free(scratch);
    free(x);
    free(y);
    release_problem(&p);
}

static void bias_activation_and_sum_are_computed_last(void **state)
{
    const ACTIVATION all[] = {LINEAR, LEAKY, RELU, LOGISTIC, MISH, SWISH};

    (void)state;
    assert_false(convolution_can_activate(RAMP));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int bf16 = 0; bf16 <= convolution_has_bf16(); bf16++) {
            assert_true(convolution_can_activate(all[i]));
            check_last(&shapes[2], all[i], CONVOLUTION_SUM_NONE, bf16);
            check_last(&shapes[6], all[i], CONVOLUTION_SUM_AFTER, bf16);
            check_last(&shapes[6], all[i], CONVOLUTION_SUM_BEFORE, bf16);
        }
}

static void expect_fast(const convolution_shape *s)
{
    const convolution *c = convolution_of(s);
    const char *name = NULL;

    if (!c)
        return;
    assert_int_equal(dnnl_primitive_desc_query(c->forward.description, dnnl_query_impl_info_str, 0,
                                               (void *)&name),
                     dnnl_success);
    if (strstr(name, "ref:"))
        fail_msg("channels %d, groups %d, activation %d, sum %d: %s", s->channels, s->groups,
                 (int)s->activation, (int)s->sum, name);
}

static void no_forward_pass_is_the_slow_reference(void **state)
{
    const ACTIVATION all[] = {LINEAR, LEAKY, RELU, LOGISTIC, MISH, SWISH};

    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            for (int sum = CONVOLUTION_SUM_NONE; sum <= CONVOLUTION_SUM_BEFORE; sum++) {
                convolution_shape s = shapes[i];

                s.has_bias = 1;
                s.activation = all[k];
                s.sum = (convolution_sum)sum;
                expect_fast(&s);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_those_of_a_plain_loop),
        cmocka_unit_test(bf16_is_that_of_a_plain_loop),
        cmocka_unit_test(bits_depend_neither_on_images_nor_on_threads),
        cmocka_unit_test(bias_activation_and_sum_are_computed_last),
        cmocka_unit_test(no_forward_pass_is_the_slow_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
