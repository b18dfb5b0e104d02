#include "cublas_v2.h"
#include "cuda_runtime.h"
#include "curand.h"

#ifdef CUDNN
extern "C" {
#include "activations.h"
#include "cuda.h"
#include "layers/bf16/bf16_cuda.h"
}
#include "layers/bf16/bf16_values.h"
#include "layers/channel_reduce.h"

// Launch a kernel for packs of VALUES_A_PACK values if that divides the channels, else of one
// value.
#define BY_PACKS(channels, kernel, grid, block, ...)                                               \
    do {                                                                                           \
        if ((channels) % VALUES_A_PACK == 0)                                                       \
            kernel<VALUES_A_PACK><<<grid, block>>>(__VA_ARGS__);                                   \
        else                                                                                       \
            kernel<1><<<grid, block>>>(__VA_ARGS__);                                               \
        check_error(cudaPeekAtLastError());                                                        \
    } while (0)

// ---- floats, channel by channel, from and to bf16 with the channels last ----

#define TILE 32
#define TILE_ROWS 8

static __device__ float as_float(float x)
{
    return x;
}
static __device__ float as_float(bf16 x)
{
    return __bfloat162float(x);
}
static __device__ void give(float *to, float x)
{
    *to = x;
}
static __device__ void give(bf16 *to, float x)
{
    *to = __float2bfloat16_rn(x);
}

// A matrix of rows x columns for each of `blocks a matrix`, turned. Both sides are read and written
// along their rows.
template <class From, class To>
__global__ void turn_kernel(int rows, int columns, const From *from, int set, To *to)
{
    __shared__ float tile[TILE][TILE + 1];
    size_t across = (columns - 1) / TILE + 1, down = (rows - 1) / TILE + 1;
    size_t matrix = blockIdx.x / (across * down), in_matrix = blockIdx.x - matrix * across * down;
    int row = in_matrix / across * TILE, column = in_matrix % across * TILE;
    int x = threadIdx.x % TILE;
    from += matrix * rows * columns;
    to += matrix * rows * columns;
    for (int y = threadIdx.x / TILE; y < TILE; y += TILE_ROWS) {
        if (row + y < rows && column + x < columns)
            tile[y][x] = as_float(from[(size_t)(row + y) * columns + column + x]);
    }
    __syncthreads();
    for (int y = threadIdx.x / TILE; y < TILE; y += TILE_ROWS) {
        if (row + x >= rows || column + y >= columns)
            continue;
        size_t i = (size_t)(column + y) * rows + row + x;
        give(to + i, set ? tile[x][y] : as_float(to[i]) + tile[x][y]);
    }
}

// Where one side of the matrix is 1.
template <class From, class To>
__global__ void convert_kernel(size_t n, const From *from, int set, To *to)
{
    unsigned i = thread_number();
    if (i < n)
        give(to + i, set ? as_float(from[i]) : as_float(to[i]) + as_float(from[i]));
}

template <class From, class To>
static void turn(size_t outer, int rows, int columns, const From *from, int set, To *to)
{
    size_t n = outer * rows * columns;
    if (rows == 1 || columns == 1) {
        convert_kernel<From, To><<<cuda_gridsize(n), BLOCK>>>(n, from, set, to);
    } else {
        size_t tiles = outer * ((columns - 1) / TILE + 1) * ((rows - 1) / TILE + 1);
        turn_kernel<From, To><<<tiles, TILE * TILE_ROWS>>>(rows, columns, from, set, to);
    }
    check_error(cudaPeekAtLastError());
}

void bf16_from_floats_gpu(size_t outer, int channels, int inner, const float *from, int set,
                          void *to)
{
    turn(outer, channels, inner, from, set, (bf16 *)to);
}

void bf16_to_floats_gpu(size_t outer, int channels, int inner, const void *from, int set, float *to)
{
    turn(outer, inner, channels, (const bf16 *)from, set, to);
}

// ---- [maxpool] ----

typedef struct {
    int channels, w, h, out_w, out_h;
    int size, stride_x, stride_y, offset; // of a window's first pixel from its place
} window_shape;

static window_shape get_windows(layer l)
{
    window_shape s = {l.c, l.w, l.h, l.out_w, l.out_h, l.size, l.stride_x, l.stride_y, -l.pad / 2};
    return s;
}

// Indexes are those of the input's values.
template <int V>
__global__ void maxpool_kernel(size_t n, window_shape s, const bf16 *input, bf16 *output,
                               int *indexes)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = s.channels / V;
    int cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % s.out_w, i = cell / s.out_w % s.out_h, b = cell / s.out_w / s.out_h;
    floats<V> most;
    int at[V];
    for (int k = 0; k < V; ++k) {
        most.v[k] = -INFINITY;
        at[k] = -1;
    }
    for (int y = i * s.stride_y + s.offset, l = 0; l < s.size; ++l, ++y) {
        for (int x = j * s.stride_x + s.offset, m = 0; m < s.size; ++m, ++x) {
            if (y < 0 || y >= s.h || x < 0 || x >= s.w)
                continue;
            size_t index = ((size_t)(b * s.h + y) * s.w + x) * s.channels + channel;
            floats<V> value = load_pack<V>(input, index);
#pragma unroll
            for (int k = 0; k < V; ++k) {
                if (!(value.v[k] > most.v[k]) && at[k] >= 0)
                    continue; // the first also where none is greater, as of NaN
                most.v[k] = value.v[k];
                at[k] = index + k;
            }
        }
    }
    size_t first = (size_t)cell * s.channels + channel;
    store_pack<V>(output, first, most);
    for (int k = 0; k < V; ++k)
        indexes[first + k] = at[k];
}

// A thread for each pack of the input, which looks into the windows that it may be in.
template <int V>
__global__ void maxpool_backward_kernel(size_t n, window_shape s, const bf16 *delta,
                                        const int *indexes, int set, bf16 *input_delta)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = s.channels / V;
    int cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % s.w, i = cell / s.w % s.h, b = cell / s.w / s.h;
    int first = (size_t)cell * s.channels + channel;
    int area_x = (s.size - 1) / s.stride_x, area_y = (s.size - 1) / s.stride_y;
    int near_x = (j - s.offset) / s.stride_x, near_y = (i - s.offset) / s.stride_y;
    floats<V> sum = {};
    for (int y = near_y - area_y; y <= near_y + area_y; ++y) {
        for (int x = near_x - area_x; x <= near_x + area_x; ++x) {
            if (y < 0 || y >= s.out_h || x < 0 || x >= s.out_w)
                continue;
            size_t out = ((size_t)(b * s.out_h + y) * s.out_w + x) * s.channels + channel;
            floats<V> d = load_pack<V>(delta, out);
#pragma unroll
            for (int k = 0; k < V; ++k)
                if (indexes[out + k] == first + k)
                    sum.v[k] += d.v[k];
        }
    }
    set_or_add_pack<V>(input_delta, first, sum, set);
}

void bf16_maxpool_gpu(layer l, const void *input)
{
    size_t n = (size_t)l.outputs * l.batch;
    size_t packs = l.c % VALUES_A_PACK ? n : n / VALUES_A_PACK;
    BY_PACKS(l.c, maxpool_kernel, cuda_gridsize(packs), BLOCK, packs, get_windows(l),
             (const bf16 *)input, (bf16 *)l.bf16->output, l.indexes_gpu);
}

void bf16_maxpool_backward_gpu(layer l, int set, void *delta)
{
    size_t n = (size_t)l.inputs * l.batch;
    size_t packs = l.c % VALUES_A_PACK ? n : n / VALUES_A_PACK;
    BY_PACKS(l.c, maxpool_backward_kernel, cuda_gridsize(packs), BLOCK, packs, get_windows(l),
             (const bf16 *)l.bf16->delta, l.indexes_gpu, set, (bf16 *)delta);
}

// ---- [upsample] ----

template <int V>
__global__ void upsample_bf16_kernel(size_t n, int channels, int w, int h, int stride, float scale,
                                     const bf16 *input, bf16 *output)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % (w * stride), i = cell / (w * stride) % (h * stride);
    unsigned b = cell / (w * stride) / (h * stride);
    floats<V> value =
        load_pack<V>(input, ((b * h + i / stride) * w + j / stride) * channels + channel);
    for (int k = 0; k < V; ++k)
        value.v[k] *= scale;
    store_pack<V>(output, (size_t)id * V, value);
}

template <int V>
__global__ void upsample_backward_bf16_kernel(size_t n, int channels, int w, int h, int stride,
                                              float scale, const bf16 *delta, int set,
                                              bf16 *input_delta)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    int j = cell % w, i = cell / w % h;
    unsigned b = cell / w / h;
    floats<V> sum = {};
    for (int y = 0; y < stride; ++y) {
        for (int x = 0; x < stride; ++x) {
            floats<V> d = load_pack<V>(
                delta, ((b * h * stride + i * stride + y) * w * stride + j * stride + x) * channels
                           + channel);
            for (int k = 0; k < V; ++k)
                sum.v[k] += d.v[k];
        }
    }
    for (int k = 0; k < V; ++k)
        sum.v[k] *= scale;
    set_or_add_pack<V>(input_delta, (size_t)id * V, sum, set);
}

void bf16_upsample_gpu(layer l, const void *input)
{
    size_t n = (size_t)l.outputs * l.batch;
    size_t packs = l.c % VALUES_A_PACK ? n : n / VALUES_A_PACK;
    BY_PACKS(l.c, upsample_bf16_kernel, cuda_gridsize(packs), BLOCK, packs, l.c, l.w, l.h, l.stride,
             l.scale, (const bf16 *)input, (bf16 *)l.bf16->output);
}

void bf16_upsample_backward_gpu(layer l, int set, void *delta)
{
    size_t n = (size_t)l.inputs * l.batch;
    size_t packs = l.c % VALUES_A_PACK ? n : n / VALUES_A_PACK;
    BY_PACKS(l.c, upsample_backward_bf16_kernel, cuda_gridsize(packs), BLOCK, packs, l.c, l.w, l.h,
             l.stride, l.scale, (const bf16 *)l.bf16->delta, set, (bf16 *)delta);
}

// ---- [avgpool] ----

template <int V>
__global__ void avgpool_bf16_kernel(size_t n, int channels, int cells, const bf16 *input,
                                    bf16 *output)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, b = id / packs;
    int channel = (id - b * packs) * V;
    floats<V> sum = {};
    for (int i = 0; i < cells; ++i) {
        floats<V> value = load_pack<V>(input, (b * cells + i) * channels + channel);
        for (int k = 0; k < V; ++k)
            sum.v[k] += value.v[k];
    }
    for (int k = 0; k < V; ++k)
        sum.v[k] /= cells;
    store_pack<V>(output, (size_t)id * V, sum);
}

template <int V>
__global__ void avgpool_backward_bf16_kernel(size_t n, int channels, int cells, const bf16 *delta,
                                             int set, bf16 *input_delta)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    floats<V> d = load_pack<V>(delta, cell / cells * channels + channel);
    for (int k = 0; k < V; ++k)
        d.v[k] /= cells;
    set_or_add_pack<V>(input_delta, (size_t)id * V, d, set);
}

void bf16_avgpool_gpu(layer l, const void *input)
{
    size_t n = (size_t)l.outputs * l.batch;
    size_t packs = l.c % VALUES_A_PACK ? n : n / VALUES_A_PACK;
    BY_PACKS(l.c, avgpool_bf16_kernel, cuda_gridsize(packs), BLOCK, packs, l.c, l.w * l.h,
             (const bf16 *)input, (bf16 *)l.bf16->output);
}

void bf16_avgpool_backward_gpu(layer l, int set, void *delta)
{
    size_t n = (size_t)l.inputs * l.batch;
    size_t packs = l.c % VALUES_A_PACK ? n : n / VALUES_A_PACK;
    BY_PACKS(l.c, avgpool_backward_bf16_kernel, cuda_gridsize(packs), BLOCK, packs, l.c, l.w * l.h,
             (const bf16 *)l.bf16->delta, set, (bf16 *)delta);
}

// ---- [route] ----

template <int V>
__global__ void copy_channels_kernel(size_t n, int channels, const bf16 *from, int from_channels,
                                     int set, bf16 *to, int to_channels)
{
    unsigned id = thread_number();
    if (id >= n)
        return;
    unsigned packs = channels / V, cell = id / packs;
    int channel = (id - cell * packs) * V;
    set_or_add_pack<V>(to, cell * to_channels + channel,
                       load_pack<V>(from, cell * from_channels + channel), set);
}

void bf16_copy_channels_gpu(size_t cells, int channels, const void *from, int from_channels,
                            int first_from, int set, void *to, int to_channels, int first_to)
{
    int all = channels | from_channels | first_from | to_channels
              | first_to; // divides by a power of two if each does
    size_t packs = cells * channels / (all % VALUES_A_PACK ? 1 : VALUES_A_PACK);
    BY_PACKS(all, copy_channels_kernel, cuda_gridsize(packs), BLOCK, packs, channels,
             (const bf16 *)from + first_from, from_channels, set, (bf16 *)to + first_to,
             to_channels);
}

// ---- [shortcut] ----

// A layer of its own size is added to the input, or of another: then those of its values that fall
// on the output's.
typedef struct {
    int same;    // size
    int w, h, c; // of the output
    int from_w, from_h, from_c;
    int stride, sample; // columns and rows of the other layer, and of the output, from one to the
                        // next that meets
} meeting_shape;

static meeting_shape get_meeting(layer l)
{
    meeting_shape s = {l.w == l.out_w && l.h == l.out_h && l.c == l.out_c,
                       l.out_w,
                       l.out_h,
                       l.out_c,
                       l.w,
                       l.h,
                       l.c,
                       l.w / l.out_w,
                       l.out_w / l.w};
    if (s.stride < 1)
        s.stride = 1;
    if (s.sample < 1)
        s.sample = 1;
    return s;
}

// The place of the other layer's value that is added to output i; -1: nothing is added.
static __device__ int source_of(meeting_shape s, unsigned i)
{
    if (s.same)
        return i;
    unsigned cell = i / s.c;
    int k = i - cell * s.c;
    int x = cell % s.w, y = cell / s.w % s.h;
    unsigned b = cell / s.w / s.h;
    if (k >= s.from_c || x % s.sample || y % s.sample)
        return -1;
    x = x / s.sample * s.stride;
    y = y / s.sample * s.stride;
    if (x >= s.from_w || y >= s.from_h)
        return -1;
    return ((b * s.from_h + y) * s.from_w + x) * s.from_c + k;
}

// input may be 0: nothing. kept: where to leave what the activation takes, or 0
template <int V, int KIND>
__global__ void shortcut_bf16_kernel(size_t n, meeting_shape s, const bf16 *input, float alpha,
                                     const bf16 *from, float beta, curve curve, bf16 *output,
                                     bf16 *kept)
{
    curve = known_curve<KIND>(curve);
    unsigned i = thread_number() * V;
    if (i >= n)
        return;
    int source = source_of(s, i);
    floats<V> y = {};
    if (input)
        y = load_pack<V>(input, i);
    if (source >= 0)
        y = weighted_sum(alpha, y, beta, load_pack<V>(from, source));
    store_activated<V>(curve, y, i, output, kept);
}

// given: what the activation took, or gave where that tells as well
template <int V, int KIND>
__global__ void shortcut_backward_bf16_kernel(size_t n, meeting_shape s, const bf16 *given,
                                              curve curve, const bf16 *delta, float alpha, int set,
                                              bf16 *input_delta, float beta, int set_from,
                                              bf16 *from_delta)
{
    curve = known_curve<KIND>(curve);
    unsigned i = thread_number() * V;
    if (i >= n)
        return;
    int source = from_delta ? source_of(s, i) : -1;
    floats<V> d = gradient_pack<V>(curve, given, delta, i), scaled;
    for (int k = 0; k < V; ++k)
        scaled.v[k] = alpha * d.v[k];
    if (input_delta)
        set_or_add_pack<V>(input_delta, i, scaled, set);
    for (int k = 0; k < V; ++k)
        scaled.v[k] = beta * d.v[k];
    if (source >= 0)
        set_or_add_pack<V>(from_delta, source, scaled, set_from);
}

// Packs where both lie alike.
static int pack_channels(layer l)
{
    return get_meeting(l).same ? l.out_c : 1;
}

static size_t pack_count(layer l)
{
    size_t n = (size_t)l.outputs * l.batch;
    return pack_channels(l) % VALUES_A_PACK ? n : n / VALUES_A_PACK;
}

void bf16_shortcut_gpu(layer l, const void *input, float alpha, const void *from)
{
    size_t n = (size_t)l.outputs * l.batch;
    curve curve;
    get_curve(l.activation, &curve);
    by_packs_and_kind(pack_channels(l), curve, [&](auto v, auto kind) {
        shortcut_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<cuda_gridsize(pack_count(l)), BLOCK>>>(n, get_meeting(l), (const bf16 *)input, alpha,
                                                      (const bf16 *)from, l.beta, curve,
                                                      (bf16 *)l.bf16->output, (bf16 *)l.bf16->x);
    });
}

void bf16_shortcut_backward_gpu(layer l, float alpha, int set, void *input_delta, int set_from,
                                void *from_delta)
{
    size_t n = (size_t)l.outputs * l.batch;
    bf16_arrays *a = l.bf16;
    curve curve;
    get_curve(l.activation, &curve);
    if (set_from && !get_meeting(l).same) { // some of its values meet nothing
        check_error(
            cudaMemsetAsync(from_delta, 0, (size_t)l.w * l.h * l.c * l.batch * sizeof(bf16), 0));
        set_from = 0;
    }
    by_packs_and_kind(pack_channels(l), curve, [&](auto v, auto kind) {
        shortcut_backward_bf16_kernel<decltype(v)::value, decltype(kind)::value>
            <<<cuda_gridsize(pack_count(l)), BLOCK>>>(
                n, get_meeting(l), (const bf16 *)(a->x ? a->x : a->output), curve,
                (const bf16 *)a->delta, alpha, set, (bf16 *)input_delta, l.beta, set_from,
                (bf16 *)from_delta);
    });
}
#endif
