/* Compression on a GPU: cuda_matrix.cu and cuda_top_k.cu. */
#include "device/cuda.h"
#include "device/cuda_compress_kernels.h"

static ddp_cuda *cuda_of(ddp_device *d)
{
    return (ddp_cuda *)d;
}

static void low_rank_encode(ddp_device *d, const ddp_low_rank *x)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_add_times(ddp_cuda_stream(d), x));
}

static void low_rank_go_on(ddp_device *d, const ddp_low_rank *x)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_orthogonalize(ddp_cuda_stream(d), x));
    DDP_CUDA(cuda_of(d), ddp_cuda_transposed_times(ddp_cuda_stream(d), x));
}

static void low_rank_decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_approximate(ddp_cuda_stream(d), x, ran, share));
}

static void low_rank_renew(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_renew(ddp_cuda_stream(d), x, ran));
}

static float *told_by(const ddp_largest *x, int rank)
{
    return x->told + (size_t)rank * ddp_top_k_numbers(x->count, x->percent);
}

static void largest_encode(ddp_device *d, const ddp_largest *x)
{
    ddp_cuda *c = cuda_of(d);
    ddp_top_k_section s = {0};

    if (!c->selection)
        DDP_CUDA(c, cudaMalloc((void **)&c->selection, DDP_CUDA_SELECTION * sizeof(unsigned)));
    ddp_device_add(d, x->m, x->error, x->count);
    ddp_device_zero(d, x->told, (size_t)(told_by(x, x->ranks) - x->told));
    while (ddp_top_k_next(&s, x->count, x->percent))
        DDP_CUDA(c, ddp_cuda_top_k_take(ddp_cuda_stream(d), told_by(x, x->rank) + s.at,
                                        x->m + s.from, &s, c->selection));
}

static void put(ddp_device *d, const ddp_largest *x, int rank, const float *ran, int clear)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next(&s, x->count, x->percent))
        DDP_CUDA(cuda_of(d), ddp_cuda_top_k_put(ddp_cuda_stream(d), clear ? x->error : x->m,
                                                told_by(x, rank), &s, ran, clear));
}

/* As on the host: rank after rank. */
static void largest_decode(ddp_device *d, const ddp_largest *x, const float *ran)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_keep(ddp_cuda_stream(d), x->m, x->error, ran, x->count));
    put(d, x, x->rank, ran, 1);
    for (int rank = 0; rank < x->ranks; rank++)
        put(d, x, rank, ran, 0);
}

const struct ddp_compress_ops ddp_compress_cuda = {
    .low_rank_encode = low_rank_encode,
    .low_rank_go_on = low_rank_go_on,
    .low_rank_decode = low_rank_decode,
    .low_rank_renew = low_rank_renew,
    .largest_encode = largest_encode,
    .largest_decode = largest_decode,
};
