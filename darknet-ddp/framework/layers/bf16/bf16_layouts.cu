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
    size_t packs = count_packs(cells * channels, all);
    by_packs(all, [&](auto v) {
        copy_channels_kernel<decltype(v)::value><<<cuda_gridsize(packs), BLOCK>>>(
            packs, channels, (const bf16 *)from + first_from, from_channels, set,
            (bf16 *)to + first_to, to_channels);
    });
}
#endif
