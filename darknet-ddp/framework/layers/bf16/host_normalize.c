#include "layers/bf16/host.h"

#include "activations.h"
#include "batchnorm_layer.h"
#include "blas.h"
#include "network.h"
#include "utils.h"

#include <stdlib.h>

/*
 * BatchNorm, biases and activations of [convolutional] layers, by the formulas of normalizer.h.
 * Statistics and intermediate values are floats; a channel's sums over blocks are doubles.
 */

// Values of a block: x and delta as floats are 32 KiB.
#define BLOCK_VALUES 4096
// Blocks between two calls of let_messages_move: about a millisecond.
#define BLOCKS_A_CALL 128

// A layer's rows, and the memory that its loops have in net.workspace.
typedef struct {
    size_t channels, rows;
    size_t at_once;           // rows of a block
    float *x, *y;             // of a block
    float *scale;             // of each channel: its scale, divided by the deviation
    float *first, *second;    // sums of a block, for each channel
    double *sum, *second_sum; // sums of all blocks
} block_shape;

static size_t block_values(layer l)
{
    return l.out_c < BLOCK_VALUES ? BLOCK_VALUES : (size_t)l.out_c;
}

size_t bf16_host_sums_bytes(layer l)
{
    size_t channels = (size_t)l.out_c;
    return channels * (3 * sizeof(float) + 2 * sizeof(double))
           + 2 * block_values(l) * sizeof(float);
}

static block_shape shape_in(layer l, float *memory)
{
    block_shape s;
    s.channels = (size_t)l.out_c;
    s.rows = (size_t)l.batch * (size_t)l.out_h * (size_t)l.out_w;
    s.at_once = block_values(l) / s.channels;
    s.sum = (double *)(void *)memory;
    s.second_sum = s.sum + s.channels;
    s.x = (float *)(void *)(s.second_sum + s.channels);
    s.y = s.x + block_values(l);
    s.scale = s.y + block_values(l);
    s.first = s.scale + s.channels;
    s.second = s.first + s.channels;
    return s;
}

static block_shape shape_of(layer l, network net)
{
    return shape_in(l, net.workspace);
}

// Rows of the block that begins at this row.
static size_t rows_at(block_shape s, size_t row)
{
    return s.rows - row < s.at_once ? s.rows - row : s.at_once;
}

static void move_messages(block_shape s, network net, size_t row)
{
    if (row / s.at_once % BLOCKS_A_CALL == BLOCKS_A_CALL - 1)
        let_messages_move(net);
}

// ---- loops over a block ----

// Add each channel's distances from `from`, and their squares.
VECTORIZE
static void add_moments(size_t rows, size_t channels, const half *restrict x,
                        const half *restrict from, float *restrict sum, float *restrict squares)
{
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < channels; ++c) {
            float d = half_to_float(x[r * channels + c]) - half_to_float(from[c]);
            sum[c] += d;
            squares[c] += d * d;
        }
    }
}

VECTORIZE
static void add_products(size_t rows, size_t channels, const float *restrict delta,
                         const half *restrict x, const float *restrict mean, float *restrict sum,
                         float *restrict products)
{
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < channels; ++c) {
            float d = delta[r * channels + c];
            sum[c] += d;
            products[c] += d * (half_to_float(x[r * channels + c]) - mean[c]);
        }
    }
}

VECTORIZE
static void add_deltas(size_t rows, size_t channels, const float *restrict delta,
                       float *restrict sum)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < channels; ++c)
            sum[c] += delta[r * channels + c];
}

// Move a block's sums to those of all blocks.
VECTORIZE
static void take_sums(size_t channels, float *restrict of_block, double *restrict sum)
{
    for (size_t c = 0; c < channels; ++c) {
        sum[c] += of_block[c];
        of_block[c] = 0;
    }
}

VECTORIZE
static void normalize_rows(size_t rows, size_t channels, const half *restrict x,
                           const float *restrict mean, const float *restrict scale,
                           const float *restrict biases, float *restrict y)
{
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < channels; ++c)
            y[r * channels + c] =
                (half_to_float(x[r * channels + c]) - mean[c]) * scale[c] + biases[c];
}

// Round y as memory would, and add the other layer's output.
VECTORIZE
static void add_other(size_t n, float alpha, float beta, const half *restrict from,
                      float *restrict y)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = alpha * half_to_float(half_of_float(y[i])) + beta * half_to_float(from[i]);
}

VECTORIZE
static void finish_delta(size_t rows, size_t channels, const half *restrict x,
                         const float *restrict mean, const float *restrict scale,
                         const float *restrict mean_delta, const float *restrict variance_delta,
                         half *restrict delta)
{
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < channels; ++c) {
            size_t i = r * channels + c;
            float d = half_to_float(delta[i]) + variance_delta[c] * (half_to_float(x[i]) - mean[c])
                      + mean_delta[c];
            delta[i] = half_of_float(scale[c] * d);
        }
    }
}

VECTORIZE
static void scale_values(size_t n, float scale, const float *restrict from, float *restrict to)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = scale * from[i];
}

// ---- BatchNorm, forward ----

static void clear_sums(block_shape s)
{
    memset(s.sum, 0, 2 * s.channels * sizeof(double));
    memset(s.first, 0, 2 * s.channels * sizeof(float));
}

static void update_running(layer l, network net)
{
    float keep = net.yolo_math_v4 ? .9F : .99F, take = net.yolo_math_v4 ? .1F : .01F;
    scal_cpu(l.out_c, keep, l.rolling_mean, 1);
    axpy_cpu(l.out_c, take, l.mean, 1, l.rolling_mean, 1);
    scal_cpu(l.out_c, keep, l.rolling_variance, 1);
    axpy_cpu(l.out_c, take, l.variance, 1, l.rolling_variance, 1);
}

// Distances are from the first row: sums of large values would drown their differences.
static void measure(layer l, network net)
{
    block_shape s = shape_of(l, net);
    const half *x = l.bf16->x;
    clear_sums(s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        add_moments(rows_at(s, row), s.channels, x + row * s.channels, x, s.first, s.second);
        take_sums(s.channels, s.first, s.sum);
        take_sums(s.channels, s.second, s.second_sum);
        move_messages(s, net, row);
    }
    for (size_t c = 0; c < s.channels; ++c) {
        double distance = s.sum[c] / (double)s.rows;
        double squares = s.second_sum[c] - s.sum[c] * distance;
        l.mean[c] = (float)(half_to_float(x[c]) + distance);
        l.variance[c] = squares < 0 ? 0 : (float)squares;
    }
    if (net.statistics)
        join_statistics(l, net);
    else
        scal_cpu(l.out_c, 1.F / (float)(s.rows - 1), l.variance, 1);
    update_running(l, net);
}

static void set_scales(layer l, block_shape s, const float *variance)
{
    for (size_t c = 0; c < s.channels; ++c)
        s.scale[c] = l.scales[c] / channel_deviation(variance[c]);
}

// The [shortcut] behind a fused layer, and what it adds; layer null: there is none.
typedef struct {
    const layer *shortcut;
    float alpha;
    const half *from;
} other_layer;

// train: by the mini-batch's statistics, not the running ones.
static void normalize_to(layer l, block_shape s, int train, other_layer other, half *output,
                         network *net)
{
    const float *mean = train ? l.mean : l.rolling_mean;
    set_scales(l, s, train ? l.variance : l.rolling_variance);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        size_t at = row * s.channels, n = rows_at(s, row) * s.channels;
        normalize_rows(rows_at(s, row), s.channels, (const half *)l.bf16->x + at, mean, s.scale,
                       l.biases, s.y);
        activate_array(s.y, (int)n, l.activation);
        if (other.shortcut) {
            add_other(n, other.alpha, other.shortcut->beta, other.from + at, s.y);
            activate_array(s.y, (int)n, other.shortcut->activation);
        }
        halves_of_floats(n, s.y, output + at);
        if (net)
            move_messages(s, *net, row);
    }
}

void bf16_host_normalize(layer l, network net)
{
    if (net.train)
        measure(l, net);
    normalize_to(l, shape_of(l, net), net.train, (other_layer){0}, l.bf16->output, &net);
}

void bf16_host_normalize_and_add(layer l, network net, layer shortcut, float alpha,
                                 const void *from)
{
    other_layer other = {&shortcut, alpha, from};
    if (net.train)
        measure(l, net);
    normalize_to(l, shape_of(l, net), net.train, other, shortcut.bf16->output, &net);
}

void bf16_host_recompute_output(layer l, void *output)
{
    float *memory = calloc(1, bf16_host_sums_bytes(l));
    if (!memory)
        malloc_error();
    normalize_to(l, shape_in(l, memory), l.bf16->trained, (other_layer){0}, output, 0);
    free(memory);
}

// ---- BatchNorm, backward ----

// Where a layer's delta comes from: its own, or the delta of the [shortcut] behind it.
typedef struct {
    const layer *shortcut; // null: its own
    float alpha;
    int set_from;
    half *from_delta; // of the other layer that the shortcut adds; null: it takes none
} delta_source;

// Write the delta of a block's outputs to s.y; pass on the other layer's share.
static void read_delta(layer l, block_shape s, delta_source from, size_t at, size_t n)
{
    const layer *shortcut = from.shortcut;
    const bf16_arrays *a = shortcut ? shortcut->bf16 : l.bf16;
    floats_of_halves(n, (const half *)a->delta + at, s.y);
    if (!shortcut)
        return;
    if (shortcut->activation != LINEAR) {
        floats_of_halves(n, (const half *)a->output + at, s.x);
        gradient_array(s.x, (int)n, shortcut->activation, s.y);
    }
    if (from.from_delta) {
        scale_values(n, shortcut->beta, s.y, s.x);
        bf16_set_or_add(n, s.x, from.set_from, from.from_delta + at);
    }
    scal_cpu((int)n, from.alpha, s.y, 1);
}

// Add up the deltas behind the activation, and their products, and leave them in the layer's delta.
static void sum_deltas(layer l, network net, block_shape s, delta_source from)
{
    const half *x = l.bf16->x;
    half *delta = l.bf16->delta;
    clear_sums(s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        size_t at = row * s.channels, rows = rows_at(s, row), n = rows * s.channels;
        read_delta(l, s, from, at, n);
        if (l.activation != LINEAR) {
            normalize_rows(rows, s.channels, x + at, l.mean, s.scale, l.biases, s.x);
            gradient_array(s.x, (int)n, l.activation, s.y);
        }
        add_products(rows, s.channels, s.y, x + at, l.mean, s.first, s.second);
        take_sums(s.channels, s.first, s.sum);
        take_sums(s.channels, s.second, s.second_sum);
        if (from.shortcut || l.activation != LINEAR)
            halves_of_floats(n, s.y, delta + at);
        move_messages(s, net, row);
    }
}

// Turn the sums into updates, and into what each value's delta gets of them.
static void take_delta_sums(layer l, network net, block_shape s)
{
    float count = (float)s.rows;
    for (size_t c = 0; c < s.channels; ++c) {
        float sum = (float)s.sum[c], product = (float)s.second_sum[c];
        float deviation = channel_deviation(l.variance[c]);
        l.bias_updates[c] += sum;
        l.scale_updates[c] += product / deviation;
        l.mean_delta[c] = -sum / count;
        l.variance_delta[c] = -product / (deviation * deviation) / count;
    }
    if (net.train && net.statistics)
        net.statistics->average(net.statistics->ctx, l.out_c, l.mean_delta, l.variance_delta);
}

static void normalize_backward(layer l, network net, delta_source from)
{
    block_shape s = shape_of(l, net);
    if (!net.train) {
        l.mean = l.rolling_mean;
        l.variance = l.rolling_variance;
    }
    set_scales(l, s, l.variance);
    sum_deltas(l, net, s, from);
    take_delta_sums(l, net, s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        size_t at = row * s.channels;
        finish_delta(rows_at(s, row), s.channels, (const half *)l.bf16->x + at, l.mean, s.scale,
                     l.mean_delta, l.variance_delta, (half *)l.bf16->delta + at);
        move_messages(s, net, row);
    }
}

void bf16_host_normalize_backward(layer l, network net)
{
    normalize_backward(l, net, (delta_source){0});
}

void bf16_host_normalize_and_add_backward(layer l, network net, layer shortcut, float alpha,
                                          int set_from, void *from_delta)
{
    delta_source from = {&shortcut, alpha, set_from, from_delta};
    normalize_backward(l, net, from);
}

// ---- biases ----

// bf16_host_convolve has added the biases.
void bf16_host_add_bias(layer l)
{
    const half *from = l.bf16->x ? l.bf16->x : l.bf16->output;
    size_t count = (size_t)l.outputs * (size_t)l.batch;
    for (size_t at = 0; l.activation != LINEAR && at < count; at += BF16_BLOCK) {
        float y[BF16_BLOCK];
        size_t n = count - at < BF16_BLOCK ? count - at : BF16_BLOCK;
        floats_of_halves(n, from + at, y);
        activate_array(y, (int)n, l.activation);
        halves_of_floats(n, y, (half *)l.bf16->output + at);
    }
}

void bf16_host_add_bias_backward(layer l, network net)
{
    block_shape s = shape_of(l, net);
    const half *y = l.bf16->x ? l.bf16->x : l.bf16->output;
    half *delta = l.bf16->delta;
    clear_sums(s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        size_t at = row * s.channels, rows = rows_at(s, row), n = rows * s.channels;
        floats_of_halves(n, delta + at, s.y);
        if (l.activation != LINEAR) {
            floats_of_halves(n, y + at, s.x);
            gradient_array(s.x, (int)n, l.activation, s.y);
            halves_of_floats(n, s.y, delta + at);
        }
        add_deltas(rows, s.channels, s.y, s.first);
        take_sums(s.channels, s.first, s.sum);
        move_messages(s, net, row);
    }
    for (size_t c = 0; c < s.channels; ++c)
        l.bias_updates[c] += (float)s.sum[c];
}
