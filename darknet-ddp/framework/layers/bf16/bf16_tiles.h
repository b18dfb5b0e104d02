/* layers/bf16/bf16_tiles.h: how a kernel's threads share an NHWC array of bf16.
 *
 * A row is all channels of one pixel. A block has THREADS threads: `lanes` side by side, each with
 * a pack of channels, on `rows` = THREADS / lanes rows at a time. A tile is the channels that one
 * block takes; `tiles` of them make a row. Where channels are summed, `parts` blocks share a tile's
 * rows: block p takes groups p, p + parts, ... of `rows` rows. The order of sums follows from the
 * array's shape alone. */
#ifndef BF16_TILES_H
#define BF16_TILES_H

#include "layers/bf16/bf16_values.h"

// The shape of such an array, and of the launches of kernels for it.
typedef struct {
    int channels, count; // channels of a row; rows of the array
    int lanes, rows;     // a block's threads side by side; rows that a block takes at a time
    int tiles;           // blocks for all channels of a row
    int parts;           // blocks that share a tile's rows in a kernel that sums channels
    int step;            // rows from one group of a block to its next group
} tile_shape;

// Four blocks for each of a large GPU's 132 multiprocessors. A constant, since sums are to be the
// same on each device.
#define REDUCTION_BLOCKS 528
// With two parts or more, a thread has at least so many packs: joining parts is work, too.
#define PACKS_A_THREAD 2

// Return how many values a pack of layer l's output has.
static int pack_size(layer l)
{
    return l.out_c % VALUES_A_PACK ? 1 : VALUES_A_PACK;
}

static int at_least_one(int n)
{
    return n < 1 ? 1 : n;
}

// Return the shape for layer l's output.
static tile_shape get_tiles(layer l)
{
    tile_shape s;
    int packs = l.out_c / pack_size(l);
    s.channels = l.out_c;
    s.count = l.batch * l.out_h * l.out_w;
    s.lanes = 1;
    while (s.lanes < packs && s.lanes < 32)
        s.lanes *= 2;
    s.rows = THREADS / s.lanes;
    s.tiles = (packs - 1) / s.lanes + 1;
    s.parts = at_least_one(REDUCTION_BLOCKS / s.tiles);
    int most = at_least_one(s.count / (s.rows * PACKS_A_THREAD));
    if (s.parts > most)
        s.parts = most;
    s.step = s.parts * s.rows;
    return s;
}

// Return the blocks of a launch that sums channels in parts (for_rows_of_part).
static int blocks_of_parts(tile_shape s)
{
    return s.tiles * s.parts;
}

#define ROWS_A_THREAD 8 // rows that each thread takes in for_rows

// Return the blocks of a launch in which each thread has ROWS_A_THREAD rows (for_rows).
static size_t all_blocks(tile_shape s)
{
    return (size_t)s.tiles * ((s.count - 1) / (s.rows * ROWS_A_THREAD) + 1);
}

// Return the first channel of this thread's pack; s.channels or more: it has none.
template <int V> static __device__ int first_channel(tile_shape s)
{
    return (blockIdx.x % s.tiles * s.lanes + threadIdx.x % s.lanes) * V;
}

// Call take(i) for each of this thread's rows, in a launch of all_blocks(s). i: index of the pack's
// first value. channel: first_channel(s).
template <class Take> static __device__ void for_rows(tile_shape s, int channel, Take take)
{
    size_t row = (size_t)(blockIdx.x / s.tiles) * s.rows * ROWS_A_THREAD + threadIdx.x / s.lanes;
    if (channel >= s.channels)
        return;
#pragma unroll 4
    for (int k = 0; k < ROWS_A_THREAD; ++k, row += s.rows)
        if (row < s.count)
            take(row * s.channels + channel);
}

// Call take(i, load(i)) for each of this thread's rows of its part, in a launch of
// blocks_of_parts(s). i, channel: as for_rows. AT_ONCE rows are loaded before the first is taken,
// since memory is slow to answer.
template <int AT_ONCE, class Load, class Take>
static __device__ void for_rows_of_part(tile_shape s, int channel, Load load, Take take)
{
    unsigned row = blockIdx.x / s.tiles * s.rows + threadIdx.x / s.lanes;
    unsigned count = channel < s.channels ? s.count : 0;
    for (; row < count; row += AT_ONCE * s.step) {
        decltype(load(0)) value[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (row + k * s.step < count)
                value[k] = load((size_t)(row + k * s.step) * s.channels + channel);
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k)
            if (row + k * s.step < count)
                take((size_t)(row + k * s.step) * s.channels + channel, value[k]);
    }
}

// Add up each channel over a block's rows, to shared[0..s.lanes*V). All threads of the block call
// it, each with the sum of its own rows. shared: THREADS*V values of shared memory. Thread i may
// read shared[i*V..i*V + V) at once; before any other use of shared, call __syncthreads().
template <int V> static __device__ void add_rows(tile_shape s, floats<V> sum, float *shared)
{
    int row = threadIdx.x / s.lanes;
    float *own = shared + threadIdx.x * V;
#pragma unroll
    for (int k = 0; k < V; ++k)
        own[k] = sum.v[k];
    for (int half = s.rows / 2; half > 0; half /= 2) {
        __syncthreads();
        if (row < half)
            for (int k = 0; k < V; ++k)
                own[k] += own[half * s.lanes * V + k];
    }
}

#endif
