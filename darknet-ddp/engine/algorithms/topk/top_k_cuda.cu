/* Kernels that select the largest elements of an array on a GPU: the same elements as top_k.c, in
 * the same order. The last kernels add what ranks have sent, and keep the rest for the next step.
 *
 * Three histograms find the magnitude of the smallest element that is taken, some bits at a time.
 * Then each tile (DDP_LARGEST_TILE elements) writes what is taken of it, behind the tiles before
 * it. Counts are whole numbers, so the order of threads does not matter. */
#include "algorithms/topk/largest_cuda.h"

#include <cuda_runtime.h>
#include <stdint.h>

enum { THREADS = 256, BINS_EACH = DDP_LARGEST_BINS / THREADS, EACH = DDP_LARGEST_TILE / THREADS };

static const size_t most_blocks = 4096;

static unsigned blocks_of(size_t wanted)
{
    return (unsigned)(wanted < most_blocks ? wanted : most_blocks);
}

/* A selection's memory. */
struct selection {
    unsigned *bins;
    unsigned *prefix; /* of the magnitude of the last one, as far as it is known */
    unsigned *rank;   /* its rank, from 1, among those that begin with prefix; in the end, how many
                         of its magnitude are taken */
    unsigned *larger; /* of each tile how many are larger; then how many before it */
    unsigned *equal;  /* of each tile how many are as large, in the same way */
};

static selection selection_of(unsigned *words, unsigned tiles)
{
    return {words, words + DDP_LARGEST_BINS, words + DDP_LARGEST_BINS + 1,
            words + DDP_LARGEST_BINS + 2, words + DDP_LARGEST_BINS + 2 + tiles};
}

__device__ static unsigned magnitude(unsigned bits)
{
    return bits & 0x7fffffff;
}

/* ---- the magnitude of the last one ---- */

__global__ void ddp_begin_selection_kernel(selection s, unsigned kept)
{
    for (unsigned i = threadIdx.x; i < DDP_LARGEST_BINS; i += blockDim.x)
        s.bins[i] = 0;
    if (threadIdx.x == 0) {
        *s.prefix = 0;
        *s.rank = kept;
    }
}

/* Count, for each value of the next bits down to bit `below`, the elements that begin with the
 * prefix down to bit `above` and have these bits. */
__global__ void ddp_count_bits_kernel(selection s, const unsigned *x, unsigned count, int above,
                                      int below)
{
    __shared__ unsigned bins[DDP_LARGEST_BINS];
    unsigned mask = (1U << (above - below)) - 1, prefix = *s.prefix;

    for (unsigned i = threadIdx.x; i < DDP_LARGEST_BINS; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        unsigned m = magnitude(x[i]);

        if (m >> above == prefix)
            atomicAdd(&bins[m >> below & mask], 1U);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < DDP_LARGEST_BINS; i += blockDim.x)
        if (bins[i] > 0)
            atomicAdd(&s.bins[i], bins[i]);
}

/* From the largest bits down to those of the one that is looked for: one block, of which each
 * thread has some bins side by side. They are left empty. */
__global__ void ddp_choose_bits_kernel(selection s, int bits)
{
    __shared__ unsigned sums[THREADS];
    unsigned first = DDP_LARGEST_BINS - threadIdx.x * BINS_EACH, sum = 0, rank = *s.rank;
    unsigned prefix = *s.prefix;

    for (unsigned i = 1; i <= BINS_EACH; i++)
        sum += s.bins[first - i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned t = 0; t < threadIdx.x; t++)
        sum += sums[t];
    if (sum < rank && rank <= sum + sums[threadIdx.x]) { /* in one thread */
        unsigned bin = first - 1;

        for (rank -= sum; rank > s.bins[bin]; bin--)
            rank -= s.bins[bin];
        *s.prefix = prefix << bits | bin;
        *s.rank = rank;
    }
    __syncthreads();
    for (unsigned i = 1; i <= BINS_EACH; i++)
        s.bins[first - i] = 0;
}

/* ---- where each goes ---- */

/* Elements of a thread, side by side: how many are larger than the last one, and, in the upper
 * half, as large. */
__device__ static unsigned count_own(const unsigned *x, size_t from, unsigned count, unsigned last)
{
    unsigned found = 0;

    for (size_t i = from; i < from + EACH && i < count; i++) {
        unsigned m = magnitude(x[i]);

        found += (m > last) + ((unsigned)(m == last) << 16);
    }
    return found;
}

__device__ static size_t own_begin(void)
{
    return (size_t)blockIdx.x * DDP_LARGEST_TILE + threadIdx.x * EACH;
}

/* Sums over the block's threads up to and with this one. */
__device__ static unsigned running_sum(unsigned *shared, unsigned x)
{
    shared[threadIdx.x] = x;
    for (unsigned back = 1; back < THREADS; back *= 2) {
        unsigned before;

        __syncthreads();
        before = threadIdx.x >= back ? shared[threadIdx.x - back] : 0;
        __syncthreads();
        shared[threadIdx.x] += before;
    }
    __syncthreads();
    return shared[threadIdx.x];
}

__global__ void ddp_count_tile_kernel(selection s, const unsigned *x, unsigned count)
{
    __shared__ unsigned shared[THREADS];
    unsigned sum = running_sum(shared, count_own(x, own_begin(), count, *s.prefix));

    if (threadIdx.x == THREADS - 1) {
        s.larger[blockIdx.x] = sum & 0xffff;
        s.equal[blockIdx.x] = sum >> 16;
    }
}

/* Replace each tile's number by the sum of the numbers before it. Launched as one block. */
__global__ void ddp_count_before_kernel(unsigned *of_tile, unsigned tiles)
{
    __shared__ unsigned shared[THREADS];
    unsigned each = (tiles + THREADS - 1) / THREADS, from = threadIdx.x * each, sum = 0, own = 0;

    for (unsigned i = from; i < from + each && i < tiles; i++)
        own += of_tile[i];
    sum = running_sum(shared, own) - own;
    for (unsigned i = from; i < from + each && i < tiles; i++) {
        unsigned here = of_tile[i];

        of_tile[i] = sum;
        sum += here;
    }
}

__global__ void ddp_write_tile_kernel(selection s, float *values, float *places, const float *x,
                                      unsigned count)
{
    __shared__ unsigned shared[THREADS];
    const unsigned *bits = (const unsigned *)x;
    unsigned last = *s.prefix, taken = *s.rank;
    size_t from = own_begin();
    unsigned own = count_own(bits, from, count, last), before = running_sum(shared, own) - own;
    unsigned larger = s.larger[blockIdx.x] + (before & 0xffff);
    unsigned equal = s.equal[blockIdx.x] + (before >> 16);

    for (size_t i = from; i < from + EACH && i < count; i++) {
        unsigned m = magnitude(bits[i]);
        unsigned at = larger + (equal < taken ? equal : taken);

        if (m > last || (m == last && equal < taken)) {
            values[at] = x[i];
            places[at] = (float)i;
        }
        larger += m > last;
        equal += m == last;
    }
}

cudaError_t ddp_cuda_top_k_select(cudaStream_t stream, float *out, const float *x,
                                  const ddp_top_k_section *s, unsigned *scratch)
{
    static const int cuts[] = {31, 20, 10, 0};
    unsigned count = (unsigned)s->count, kept = (unsigned)s->kept;
    unsigned tiles = (count + DDP_LARGEST_TILE - 1) / DDP_LARGEST_TILE;
    selection of = selection_of(scratch, tiles);
    const unsigned *bits = (const unsigned *)x;

    ddp_begin_selection_kernel<<<1, THREADS, 0, stream>>>(of, kept);
    for (int i = 0; i < 3; i++) {
        ddp_count_bits_kernel<<<blocks_of(tiles), THREADS, 0, stream>>>(of, bits, count, cuts[i],
                                                                        cuts[i + 1]);
        ddp_choose_bits_kernel<<<1, THREADS, 0, stream>>>(of, cuts[i] - cuts[i + 1]);
    }
    ddp_count_tile_kernel<<<tiles, THREADS, 0, stream>>>(of, bits, count);
    ddp_count_before_kernel<<<1, THREADS, 0, stream>>>(of.larger, tiles);
    ddp_count_before_kernel<<<1, THREADS, 0, stream>>>(of.equal, tiles);
    ddp_write_tile_kernel<<<tiles, THREADS, 0, stream>>>(of, out, out + kept, x, count);
    return cudaPeekAtLastError();
}

/* ---- what ranks have sent ---- */

/* A rank sends no place twice. */
__global__ void ddp_put_kernel(float *x, const float *values, const float *places, size_t kept,
                               size_t count, const float *ran, int clear)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < kept && !(*ran <= 0);
         i += step) {
        float place = places[i]; /* NaN where a sum is not finite */

        if (place >= 0 && place < (float)count)
            x[(size_t)place] = clear ? 0 : x[(size_t)place] + values[i];
    }
}

cudaError_t ddp_cuda_top_k_put(cudaStream_t stream, float *x, const float *selected,
                               const ddp_top_k_section *s, const float *ran, int clear)
{
    ddp_put_kernel<<<blocks_of((s->kept + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
        x + s->from, selected + s->at, selected + s->at + s->kept, s->kept, s->count, ran, clear);
    return cudaPeekAtLastError();
}

__global__ void ddp_keep_kernel(float *m, float *error, const float *ran, size_t count)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    bool nowhere = *ran <= 0;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        if (!nowhere)
            error[i] = m[i];
        m[i] = 0;
    }
}

cudaError_t ddp_cuda_keep_error(cudaStream_t stream, float *m, float *error, const float *ran,
                                size_t count)
{
    ddp_keep_kernel<<<blocks_of((count + THREADS - 1) / THREADS), THREADS, 0, stream>>>(m, error,
                                                                                        ran, count);
    return cudaPeekAtLastError();
}
