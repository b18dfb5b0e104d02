/* Computes PowerSGD's matrices on a GPU; matrix.c does so on the host.
 *
 * Orthonormal columns and P Q^T must have the same bits on every GPU. So no fused multiply-add
 * changes them, and the number of threads that add up a sum does not depend on the kind of GPU. */
#include "algorithms/powersgd/low_rank_cuda.h"

#include <cuda_runtime.h>

/* A pass over M makes so many columns of P or Q. */
enum { COLUMNS = 8 };

/* Threads of a block: a row of M each, a square of it, all of a column. */
enum { ROW = 128, WIDE = 32, HIGH = 8, WHOLE = 256, EACH = 256 };

static const size_t most_blocks = 4096;

static unsigned blocks_of(size_t wanted)
{
    return (unsigned)(wanted < most_blocks ? wanted : most_blocks);
}

/* shared[0] becomes the sum of all of the block's. */
template <class T> __device__ static T block_sum(T *shared, T x)
{
    T sum;

    shared[threadIdx.x] = x;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    sum = shared[0];
    __syncthreads();
    return sum;
}

/* *ran is NaN where a sum is not finite: that is no zero. */
__device__ static bool ran_nowhere(const float *ran)
{
    return *ran <= 0;
}

/* ---- P = (M + E) Q: a block a row ---- */

__device__ static void row_times(float *shared, const float *row, const ddp_low_rank &x, size_t i,
                                 size_t from)
{
    size_t columns = x.shape.columns, many = x.shape.rank - from;
    float sums[COLUMNS] = {0};

    if (many > COLUMNS)
        many = COLUMNS;
    for (size_t j = threadIdx.x; j < columns; j += blockDim.x) {
        float value = row[j];

        for (size_t k = 0; k < COLUMNS; k++)
            if (k < many)
                sums[k] += value * x.q[(from + k) * columns + j];
    }
    for (size_t k = 0; k < many; k++) {
        float sum = block_sum(shared, sums[k]);

        if (threadIdx.x == 0)
            x.p[(from + k) * x.shape.rows + i] = sum;
    }
}

__global__ void ddp_add_times_kernel(ddp_low_rank x)
{
    __shared__ float shared[ROW];

    for (size_t i = blockIdx.x; i < x.shape.rows; i += gridDim.x) {
        float *row = x.m + i * x.shape.columns;
        const float *more = x.error + i * x.shape.columns;

        for (size_t j = threadIdx.x; j < x.shape.columns; j += blockDim.x)
            row[j] += more[j]; /* which this thread alone reads again */
        for (size_t from = 0; from < x.shape.rank; from += COLUMNS)
            row_times(shared, row, x, i, from);
    }
}

cudaError_t ddp_cuda_add_times(cudaStream_t stream, const ddp_low_rank *x)
{
    ddp_add_times_kernel<<<blocks_of(x->shape.rows), ROW, 0, stream>>>(*x);
    return cudaPeekAtLastError();
}

/* ---- Q = M^T P: a block WIDE columns, of which HIGH threads each add up ---- */

__device__ static void columns_times(float (*parts)[WIDE], const ddp_low_rank &x, size_t j,
                                     size_t from)
{
    size_t rows = x.shape.rows, columns = x.shape.columns, many = x.shape.rank - from;
    size_t lane = threadIdx.x % WIDE, part = threadIdx.x / WIDE;
    float sums[COLUMNS] = {0};

    if (many > COLUMNS)
        many = COLUMNS;
    for (size_t i = part; j < columns && i < rows; i += HIGH) {
        float value = x.m[i * columns + j];

        for (size_t k = 0; k < COLUMNS; k++)
            if (k < many)
                sums[k] += value * x.p[(from + k) * rows + i];
    }
    for (size_t k = 0; k < many; k++) {
        float sum = 0;

        parts[part][lane] = sums[k];
        __syncthreads();
        for (size_t h = 0; h < HIGH; h++)
            sum += parts[h][lane];
        if (part == 0 && j < columns)
            x.q_sum[(from + k) * columns + j] = sum;
        __syncthreads();
    }
}

__global__ void ddp_transposed_times_kernel(ddp_low_rank x)
{
    __shared__ float parts[HIGH][WIDE];

    for (size_t begin = (size_t)blockIdx.x * WIDE; begin < x.shape.columns;
         begin += (size_t)gridDim.x * WIDE)
        for (size_t from = 0; from < x.shape.rank; from += COLUMNS)
            columns_times(parts, x, begin + threadIdx.x % WIDE, from);
}

cudaError_t ddp_cuda_transposed_times(cudaStream_t stream, const ddp_low_rank *x)
{
    ddp_transposed_times_kernel<<<blocks_of((x->shape.columns + WIDE - 1) / WIDE), WIDE * HIGH, 0,
                                  stream>>>(*x);
    return cudaPeekAtLastError();
}

/* ---- orthonormal columns: one block, in which each thread has the same elements of all ---- */

__device__ static double product(double *shared, const float *a, const float *b, size_t length)
{
    double sum = 0;

    for (size_t i = threadIdx.x; i < length; i += blockDim.x)
        sum += (double)a[i] * (double)b[i]; /* exact products: fused or not is the same */
    return block_sum(shared, sum);
}

/* Returns whether the column is lost, and then zero. */
__device__ static bool orthogonalize_column(double *shared, float *columns, size_t length, size_t k)
{
    float *column = columns + k * length;
    double before = sqrt(product(shared, column, column, length)), left;
    bool lost;

    for (size_t j = 0; j < k; j++) {
        const float *other = columns + j * length;
        double factor = product(shared, other, column, length);

        for (size_t i = threadIdx.x; i < length; i += blockDim.x)
            column[i] = (float)__dadd_rn((double)column[i], -__dmul_rn(factor, (double)other[i]));
    }
    left = sqrt(product(shared, column, column, length));
    lost = left <= DDP_MATRIX_LEAST_LEFT * before;
    for (size_t i = threadIdx.x; i < length; i += blockDim.x)
        column[i] = lost ? 0 : (float)((double)column[i] / left);
    return lost;
}

__global__ void ddp_orthogonalize_kernel(float *columns, size_t length, size_t count)
{
    __shared__ double shared[WHOLE];

    for (size_t k = 0; k < count; k++)
        orthogonalize_column(shared, columns, length, k);
}

cudaError_t ddp_cuda_orthogonalize(cudaStream_t stream, const ddp_low_rank *x)
{
    ddp_orthogonalize_kernel<<<1, WHOLE, 0, stream>>>(x->p, x->shape.rows, x->shape.rank);
    return cudaPeekAtLastError();
}

__global__ void ddp_renew_kernel(ddp_low_rank x, const float *ran)
{
    __shared__ double shared[WHOLE];
    size_t columns = x.shape.columns;
    bool lost = false;

    if (ran_nowhere(ran))
        return;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x)
        for (size_t k = 0; k < x.shape.rank; k++)
            x.q[k * columns + i] = x.q_sum[k * columns + i];
    for (size_t k = 0; k < x.shape.rank; k++)
        lost |= orthogonalize_column(shared, x.q, columns, k);
    if (!lost)
        return;
    /* After all columns, as on the host: a drawn one must not change those behind it in this turn.
     */
    for (size_t k = 0; k < x.shape.rank; k++) {
        const float *column = x.q + k * columns;

        if (product(shared, column, column, columns) != 0)
            continue;
        for (size_t i = threadIdx.x; i < columns; i += blockDim.x)
            x.q[k * columns + i] = x.drawn[k * columns + i];
    }
    for (size_t k = 0; k < x.shape.rank; k++)
        orthogonalize_column(shared, x.q, columns, k);
}

cudaError_t ddp_cuda_renew_q(cudaStream_t stream, const ddp_low_rank *x, const float *ran)
{
    ddp_renew_kernel<<<1, WHOLE, 0, stream>>>(*x, ran);
    return cudaPeekAtLastError();
}

/* ---- P Q^T: a thread an element ---- */

__global__ void ddp_approximate_kernel(ddp_low_rank x, const float *ran, float share)
{
    size_t rows = x.shape.rows, columns = x.shape.columns;
    size_t step = (size_t)gridDim.x * blockDim.x;
    bool nowhere = ran_nowhere(ran);

    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < rows * columns;
         at += step) {
        size_t i = at / columns, j = at % columns;
        float sum = 0;

        for (size_t k = 0; !nowhere && k < x.shape.rank; k++)
            sum = __fadd_rn(sum, __fmul_rn(x.p[k * rows + i], x.q_sum[k * columns + j]));
        if (!nowhere)
            x.error[at] = __fadd_rn(x.m[at], -__fmul_rn(share, sum));
        x.m[at] = sum;
    }
}

cudaError_t ddp_cuda_approximate(cudaStream_t stream, const ddp_low_rank *x, const float *ran,
                                 float share)
{
    size_t count = x->shape.rows * x->shape.columns;

    ddp_approximate_kernel<<<blocks_of((count + EACH - 1) / EACH), EACH, 0, stream>>>(*x, ran,
                                                                                      share);
    return cudaPeekAtLastError();
}
