/* ddp-test: quick */
/* The passes of a [convolutional] by Winograd's algorithm (layers/winograd/training.h) beside those
 * by columns and gemm, on the same layer. */
#include "col2im.h"
#include "convolutional_layer.h"
#include "gemm.h"
#include "im2col.h"
#include "layers/winograd/training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const struct {
    int images, channels, height, width, filters, pad;
} shapes[] = {
    {1, 16, 8, 8, 32, 1},   {5, 32, 13, 9, 16, 1},  {3, 16, 20, 17, 48, 1},
    {20, 16, 10, 8, 16, 1}, {2, 16, 18, 19, 16, 0}, {2, 16, 16, 16, 32, 2},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill(float *x, int count, uint32_t state)
{
    for (int i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        x[i] = (float)(state >> 8) / (float)(1 << 23) - 1;
    }
}

static float *random_values(int count, uint32_t state)
{
    float *x = malloc((size_t)count * sizeof *x);

    assert_non_null(x);
    fill(x, count, state);
    return x;
}

static layer make_layer(int i, network *net)
{
    const conv_window window = {3, 1, 1, 1, shapes[i].pad};
    layer l = make_convolutional_layer(shapes[i].images, shapes[i].height, shapes[i].width,
                                       shapes[i].channels, shapes[i].filters, 1, window, LINEAR, 0,
                                       0, 0, 0);

    *net = (network){.batch = l.batch, .gpu_index = -1, .train = 1};
    assert_int_equal(l.workspace_size, winograd_workspace(l));
    net->workspace = malloc(l.workspace_size);
    net->input = random_values(l.batch * l.inputs, 1);
    net->delta = random_values(l.batch * l.inputs, 2);
    assert_non_null(net->workspace);
    memset(net->workspace, 0xff, l.workspace_size);
    fill(l.weights, l.nweights, 3);
    fill(l.weight_updates, l.nweights, 4);
    fill(l.delta, l.batch * l.outputs, 5);
    return l;
}

static void release(layer l, network *net)
{
    free_layer(l);
    free(net->workspace);
    free(net->input);
    free(net->delta);
}

/* The greatest difference of two arrays, as a share of the root mean square of b. */
static double difference(const float *a, const float *b, int count)
{
    double greatest = 0, squares = 0;

    for (int i = 0; i < count; i++) {
        const double d = fabs((double)a[i] - (double)b[i]);

        if (!(d <= greatest))
            greatest = d;
        squares += (double)b[i] * (double)b[i];
    }
    return greatest / sqrt(squares / count);
}

static void assert_near(int shape, const char *what, const float *a, const float *b, int count)
{
    const double d = difference(a, b, count);

    if (!(d <= 1.5e-5))
        fail_msg("shape %d: %s differs by %g", shape, what, d);
}

/* Write an image's columns: [channel, row, column of the window][output pixel]. */
static void make_columns(layer l, int image, const network *net, float *columns)
{
    const conv_window window = {l.size, 1, 1, 1, l.pad};

    im2col_ld_cpu(net->input + image * l.inputs, l.c, l.h, l.w, window, columns, l.out_w * l.out_h);
}

static void forward_pass_is_that_of_columns(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        network net;
        layer l = make_layer(i, &net);
        const int pixels = l.out_w * l.out_h, rows = l.c * 9;
        float *columns = random_values(rows * pixels, 6),
              *y = random_values(l.batch * l.outputs, 7);

        for (int b = 0; b < l.batch; b++) {
            make_columns(l, b, &net, columns);
            gemm(0, 0, l.n, pixels, rows, 1, l.weights, rows, columns, pixels, 0, y + b * l.outputs,
                 pixels);
        }
        assert_int_equal(winograd_forward_layer(l, net, l.output), 1);
        assert_near(i, "y", l.output, y, l.batch * l.outputs);
        free(columns);
        free(y);
        release(l, &net);
    }
}

static void gradients_are_those_of_columns(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        network net;
        layer l = make_layer(i, &net);
        const int pixels = l.out_w * l.out_h, rows = l.c * 9;
        float *columns = random_values(rows * pixels, 6), *expected = random_values(l.nweights, 4);

        for (int b = 0; b < l.batch; b++) {
            make_columns(l, b, &net, columns);
            gemm(0, 1, l.n, rows, pixels, 1, l.delta + b * l.outputs, pixels, columns, pixels, 1,
                 expected, rows);
        }
        assert_int_equal(winograd_backward_weights(l, net), 1);
        assert_near(i, "a gradient", l.weight_updates, expected, l.nweights);
        free(columns);
        free(expected);
        release(l, &net);
    }
}

/* is_set: 1: net.delta is set; 0: it is added to. */
static void assert_data_pass(int i, int is_set)
{
    network net;
    layer l = make_layer(i, &net);
    const conv_window window = {l.size, 1, 1, 1, l.pad};
    const int pixels = l.out_w * l.out_h, rows = l.c * 9;
    float *columns = random_values(rows * pixels, 6);
    float *expected = random_values(l.batch * l.inputs, 2);

    if (is_set)
        memset(expected, 0, (size_t)(l.batch * l.inputs) * sizeof *expected);
    for (int b = 0; b < l.batch; b++) {
        gemm(1, 0, rows, pixels, l.n, 1, l.weights, rows, l.delta + b * l.outputs, pixels, 0,
             columns, pixels);
        col2im_ld_cpu(columns, pixels, l.c, l.h, l.w, window, expected + b * l.inputs);
    }
    assert_int_equal(winograd_backward_data(l, net, is_set), 1);
    assert_near(i, "dx", net.delta, expected, l.batch * l.inputs);
    free(columns);
    free(expected);
    release(l, &net);
}

static void data_pass_is_that_of_columns(void **state)
{
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        assert_data_pass(i, 0);
        assert_data_pass(i, 1);
    }
}

static void other_layers_are_left_alone(void **state)
{
    const conv_window small = {3, 1, 1, 1, 1}, strided = {3, 2, 2, 1, 1};
    const network net = {.batch = 2, .gpu_index = -1};
    layer others[] = {
        make_convolutional_layer(2, 7, 8, 16, 16, 1, small, LINEAR, 0, 0, 0, 0),
        make_convolutional_layer(2, 16, 16, 16, 16, 1, strided, LINEAR, 0, 0, 0, 0),
        make_convolutional_layer(2, 16, 16, 16, 16, 1, small, LINEAR, 0, 0, 1, 0),
        make_convolutional_layer(2, 16, 16, 3, 16, 1, small, LINEAR, 0, 0, 0, 0),
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(winograd_workspace(others[i]), 0);
        assert_int_equal(winograd_forward_layer(others[i], net, NULL), 0);
        assert_int_equal(winograd_backward_weights(others[i], net), 0);
        assert_int_equal(winograd_backward_data(others[i], net, 0), 0);
        free_layer(others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_pass_is_that_of_columns),
        cmocka_unit_test(gradients_are_those_of_columns),
        cmocka_unit_test(data_pass_is_that_of_columns),
        cmocka_unit_test(other_layers_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
