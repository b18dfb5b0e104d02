#include "layers/bf16/host.h"
#include "layers/bf16/host_blocks.h"
#include "layers/bf16/host_rows.h"

#include "activations.h"
#include "batchnorm_layer.h"
#include "blas.h"
#include "network.h"
#include "utils.h"

#include <stdlib.h>

/*
 * BatchNorm and activations of [convolutional] layers, by the formulas of normalizer.h. Statistics
 * and intermediate values are floats; a channel's sums over blocks are doubles.
 */

// ---- loops over a block ----

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
static void scale_values(size_t n, float scale, const float *restrict from, float *restrict to)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = scale * from[i];
}

// ---- BatchNorm, forward ----

static void update_running(layer l, network net)
{
    float keep = net.yolo_math_v4 ? .9F : .99F, take = net.yolo_math_v4 ? .1F : .01F;
    scal_cpu(l.out_c, keep, l.rolling_mean, 1);
    axpy_cpu(l.out_c, take, l.mean, 1, l.rolling_mean, 1);
    scal_cpu(l.out_c, keep, l.rolling_variance, 1);
    axpy_cpu(l.out_c, take, l.variance, 1, l.rolling_variance, 1);
}

// All rows of a layer, for the loops: without activations, a [shortcut], and the arrays of a pass.
static bf16_rows rows_of(layer l, bf16_blocks s, const float *mean)
{
    bf16_rows r = {
        .channels = s.channels,
        .x = l.bf16->x,
        .mean = mean,
        .biases = l.biases,
        .scale = s.scale,
        .slope = 1,
        .alpha = 1,
        .shortcut_slope = 1,
        .met_channels = s.channels,
        .sum = s.first,
        .products = s.second,
    };
    return r;
}

static void move_forward(const half **x, size_t n)
{
    if (*x)
        *x += n;
}

// The block that begins at this row. What a [shortcut] adds is left where it was (meet_other).
static bf16_rows block_at(bf16_rows all, bf16_blocks s, size_t row)
{
    size_t at = row * s.channels;
    bf16_rows r = all;
    r.rows = bf16_block_rows(s, row);
    move_forward(&r.x, at);
    move_forward(&r.delta, at);
    move_forward(&r.output, at);
    r.y = all.y ? all.y + at : 0;
    r.x_delta = all.x_delta ? all.x_delta + at : 0;
    return r;
}

// Where a block, which begins at this row, meets the other layer of a [shortcut]. places: memory
// for the block's rows
static void meet_other(bf16_rows *block, const layer *shortcut, size_t row, long *places)
{
    if (!shortcut)
        return;
    if (bf16_is_one_size(*shortcut)) {
        move_forward(&block->other, row * block->channels);
        if (block->other_delta)
            block->other_delta += row * block->channels;
        return;
    }
    for (size_t i = 0; i < block->rows; ++i)
        places[i] = bf16_host_shortcut_place(*shortcut, (int)(row + i));
    block->places = places;
    block->met_channels = bf16_host_shortcut_channels(*shortcut);
}

// Distances are from the first row: sums of large values would drown their differences.
static void measure(layer l, network net)
{
    bf16_blocks s = bf16_blocks_of(l, net);
    bf16_rows r = rows_of(l, s, s.y);
    bf16_blocks_clear_sums(s);
    floats_of_halves(s.channels, r.x, s.y);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        bf16_rows block = block_at(r, s, row);
        bf16_row_loops_here()->add_moments(&block);
        bf16_blocks_take_sums(s);
        bf16_blocks_move_messages(s, net, row);
    }
    for (size_t c = 0; c < s.channels; ++c) {
        double distance = s.sum[c] / (double)s.rows;
        double squares = s.second_sum[c] - s.sum[c] * distance;
        l.mean[c] = (float)(s.y[c] + distance);
        l.variance[c] = squares < 0 ? 0 : (float)squares;
    }
    if (net.statistics)
        join_statistics(l, net);
    else
        scal_cpu(l.out_c, 1.F / (float)(s.rows - 1), l.variance, 1);
    update_running(l, net);
}

static void set_scales(layer l, bf16_blocks s, const float *variance)
{
    for (size_t c = 0; c < s.channels; ++c)
        s.scale[c] = l.scales[c] / channel_deviation(variance[c]);
}

// The [shortcut] behind a fused layer; layer null: there is none.
typedef struct {
    const layer *shortcut;
    float alpha;
    const half *from; // forward: what is added
    half *from_delta; // backward: what gets its gradient; null: nothing does
    int set_from;
} other_layer;

// Whether the activations, of the layer and of the [shortcut], are slopes, which r gets.
static int set_slopes(layer l, other_layer other, bf16_rows *r)
{
    return bf16_activation_slope(l.activation, &r->slope)
           && (!other.shortcut
               || bf16_activation_slope(other.shortcut->activation, &r->shortcut_slope));
}

int bf16_host_can_fuse_sizes(layer l, layer shortcut)
{
    float slope;
    size_t met = bf16_host_shortcut_channels(shortcut), channels = (size_t)l.out_c;
    return bf16_activation_slope(l.activation, &slope)
           && channels >= BF16_BLOCK_VALUES / BF16_MOST_PLACES
           && (met % 16 == 0 || met == channels);
}

// A block whose activations are no slopes.
static void normalize_block(layer l, bf16_blocks s, const bf16_rows *r, other_layer other)
{
    size_t n = r->rows * s.channels;
    normalize_rows(r->rows, s.channels, r->x, r->mean, s.scale, l.biases, s.y);
    activate_array(s.y, (int)n, l.activation);
    if (other.shortcut) {
        add_other(n, r->alpha, r->beta, r->other, s.y);
        activate_array(s.y, (int)n, other.shortcut->activation);
    }
    halves_of_floats(n, s.y, r->y);
}

// train: by the mini-batch's statistics, not the running ones.
static void normalize_to(layer l, bf16_blocks s, int train, other_layer other, half *output,
                         network *net)
{
    bf16_rows r = rows_of(l, s, train ? l.mean : l.rolling_mean);
    int has_slopes = set_slopes(l, other, &r);
    r.y = output;
    if (other.shortcut) {
        r.other = other.from;
        r.alpha = other.alpha;
        r.beta = other.shortcut->beta;
    }
    set_scales(l, s, train ? l.variance : l.rolling_variance);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        long places[BF16_MOST_PLACES];
        bf16_rows block = block_at(r, s, row);
        meet_other(&block, other.shortcut, row, places);
        if (has_slopes)
            bf16_row_loops_here()->normalize(&block);
        else
            normalize_block(l, s, &block, other);
        if (net)
            bf16_blocks_move_messages(s, *net, row);
    }
}

void bf16_host_normalize(layer l, network net)
{
    if (net.train)
        measure(l, net);
    normalize_to(l, bf16_blocks_of(l, net), net.train, (other_layer){0}, l.bf16->output, &net);
}

void bf16_host_normalize_and_add(layer l, network net, layer shortcut, float alpha,
                                 const void *from)
{
    other_layer other = {.shortcut = &shortcut, .alpha = alpha, .from = from};
    if (net.train)
        measure(l, net);
    normalize_to(l, bf16_blocks_of(l, net), net.train, other, shortcut.bf16->output, &net);
}

void bf16_host_recompute_output(layer l, void *output)
{
    float *memory = calloc(1, bf16_host_sums_bytes(l));
    if (!memory)
        malloc_error();
    normalize_to(l, bf16_blocks_in(l, memory), l.bf16->trained, (other_layer){0}, output, 0);
    free(memory);
}

// ---- BatchNorm, backward ----

// Set the layer's delta to the gradients of BatchNorm's output, for a block whose activations are
// no slopes; pass on the other layer's share. From then on it is a block without activations.
static void set_delta(layer l, bf16_blocks s, bf16_rows *r, other_layer other)
{
    size_t n = r->rows * s.channels;
    floats_of_halves(n, r->delta, s.y);
    if (r->output) {
        floats_of_halves(n, r->output, s.x);
        gradient_array(s.x, (int)n, other.shortcut->activation, s.y);
    }
    if (r->other_delta) {
        scale_values(n, r->beta, s.y, s.x);
        bf16_set_or_add(n, s.x, r->set_other, r->other_delta);
    }
    scal_cpu((int)n, r->alpha, s.y, 1);
    normalize_rows(r->rows, s.channels, r->x, r->mean, s.scale, l.biases, s.x);
    gradient_array(s.x, (int)n, l.activation, s.y);
    halves_of_floats(n, s.y, r->x_delta);
}

// The rows of a layer whose delta is that of BatchNorm's output.
static bf16_rows without_activations(bf16_rows r)
{
    r.delta = r.x_delta;
    r.output = 0;
    r.other_delta = 0;
    r.alpha = r.slope = r.shortcut_slope = 1;
    return r;
}

// The rows once their sums are taken. If the other layer got what BatchNorm's output gets, it is
// read from there, with the [shortcut]'s activation done.
static bf16_rows after_sums(bf16_rows r, other_layer other)
{
    if (r.output && r.other_delta && r.set_other && r.alpha == r.beta
        && bf16_is_one_size(*other.shortcut)) {
        r.delta = r.other_delta;
        r.output = 0;
        r.alpha = r.shortcut_slope = 1;
    }
    r.other_delta = 0;
    return r;
}

// Add up the gradients of BatchNorm's output, and their products. Return what the rows are then.
static bf16_rows sum_deltas(layer l, network net, bf16_blocks s, other_layer other)
{
    const bf16_arrays *a = other.shortcut ? other.shortcut->bf16 : l.bf16;
    bf16_rows r = rows_of(l, s, l.mean);
    int has_slopes = set_slopes(l, other, &r);
    r.delta = a->delta;
    r.x_delta = l.bf16->delta;
    r.mean_delta = l.mean_delta;
    r.variance_delta = l.variance_delta;
    if (other.shortcut) {
        r.output = other.shortcut->activation == LINEAR ? 0 : a->output;
        r.other_delta = other.from_delta;
        r.set_other = other.set_from;
        r.alpha = other.alpha;
        r.beta = other.shortcut->beta;
    }
    bf16_blocks_clear_sums(s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        long places[BF16_MOST_PLACES];
        bf16_rows block = block_at(r, s, row);
        meet_other(&block, other.shortcut, row, places);
        if (!has_slopes) {
            set_delta(l, s, &block, other);
            block = without_activations(block);
        }
        bf16_row_loops_here()->sum_deltas(&block);
        bf16_blocks_take_sums(s);
        bf16_blocks_move_messages(s, net, row);
    }
    return has_slopes ? after_sums(r, other) : without_activations(r);
}

// Turn the sums into updates, and into what each value's delta gets of them.
static void take_delta_sums(layer l, network net, bf16_blocks s)
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

static void normalize_backward(layer l, network net, other_layer other)
{
    bf16_blocks s = bf16_blocks_of(l, net);
    if (!net.train) {
        l.mean = l.rolling_mean;
        l.variance = l.rolling_variance;
    }
    set_scales(l, s, l.variance);
    bf16_rows r = sum_deltas(l, net, s, other);
    take_delta_sums(l, net, s);
    for (size_t row = 0; row < s.rows; row += s.at_once) {
        bf16_rows block = block_at(r, s, row);
        bf16_row_loops_here()->finish_deltas(&block);
        bf16_blocks_move_messages(s, net, row);
    }
}

void bf16_host_normalize_backward(layer l, network net)
{
    normalize_backward(l, net, (other_layer){0});
}

void bf16_host_normalize_and_add_backward(layer l, network net, layer shortcut, float alpha,
                                          int set_from, void *from_delta)
{
    other_layer other = {&shortcut, alpha, 0, from_delta,
                         bf16_host_shortcut_begin(shortcut, set_from, from_delta)};
    normalize_backward(l, net, other);
}
