#include "layers/bf16/host.h"

#include "activations.h"
#include "blas.h"

VECTORIZE
static void add_floats(size_t n, const float *restrict from, half *restrict to)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = half_of_float(half_to_float(to[i]) + from[i]);
}

void bf16_set_or_add(size_t n, const float *from, int set, half *to)
{
    (set ? halves_of_floats : add_floats)(n, from, to);
}

// ---- activations ----

void bf16_host_activate(layer l, size_t n, size_t at, float *y)
{
    if (l.bf16->x)
        halves_of_floats(n, y, (half *)l.bf16->x + at);
    activate_array(y, (int)n, l.activation);
    halves_of_floats(n, y, (half *)l.bf16->output + at);
}

void bf16_host_gradient(layer l, size_t n, size_t at, float *delta)
{
    float y[BF16_BLOCK];
    bf16_arrays *a = l.bf16;
    floats_of_halves(n, (const half *)a->delta + at, delta);
    floats_of_halves(n, (const half *)(a->x ? a->x : a->output) + at, y);
    gradient_array(y, (int)n, l.activation, delta);
}

// ---- floats, channel by channel, from and to bf16 with the channels last ----

// A tile is written along its rows while what is read of each channel stays in the cache.
#define TILE 32

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// One image of `channels` rows of `cells`, to `cells` rows of `channels`.
VECTORIZE
static void turn_to_halves(size_t channels, size_t cells, const float *restrict from, int set,
                           half *restrict to)
{
    for (size_t c = 0; c < channels; c += TILE) {
        size_t some = smaller(TILE, channels - c);
        for (size_t i = 0; i < cells; ++i) {
            half *row = to + i * channels + c;
            const float *column = from + c * cells + i;
            for (size_t k = 0; k < some; ++k)
                row[k] = half_of_float(column[k * cells] + (set ? 0 : half_to_float(row[k])));
        }
    }
}

VECTORIZE
static void turn_to_floats(size_t channels, size_t cells, const half *restrict from, int set,
                           float *restrict to)
{
    for (size_t i = 0; i < cells; i += TILE) {
        size_t some = smaller(TILE, cells - i);
        for (size_t c = 0; c < channels; ++c) {
            const half *column = from + i * channels + c;
            float *row = to + c * cells + i;
            for (size_t k = 0; k < some; ++k)
                row[k] = half_to_float(column[k * channels]) + (set ? 0 : row[k]);
        }
    }
}

void bf16_host_from_floats(size_t outer, int channels, int inner, const float *from, int set,
                           void *to)
{
    size_t size = (size_t)channels * (size_t)inner;
    for (size_t b = 0; b < outer; ++b)
        turn_to_halves((size_t)channels, (size_t)inner, from + b * size, set,
                       (half *)to + b * size);
}

void bf16_host_to_floats(size_t outer, int channels, int inner, const void *from, int set,
                         float *to)
{
    size_t size = (size_t)channels * (size_t)inner;
    for (size_t b = 0; b < outer; ++b)
        turn_to_floats((size_t)channels, (size_t)inner, (const half *)from + b * size, set,
                       to + b * size);
}
