/* Finds the largest elements for top-k on a GPU: the functions of largest.h, which queue the
 * kernels of top_k_cuda.cu. */
#include "algorithms/topk/largest_cuda.h"
#include "device/cuda.h"

static ddp_cuda *cuda_of(ddp_device *d)
{
    return (ddp_cuda *)d;
}

static float *told_by(const ddp_largest *x, int rank)
{
    return x->told + (size_t)rank * x->stride;
}

static void encode(ddp_device *d, const ddp_largest *x)
{
    ddp_top_k_section s = {0};

    ddp_device_add(d, x->m, x->error, x->count);
    while (ddp_top_k_next_section(&s, x->count, x->percent))
        DDP_CUDA(cuda_of(d),
                 ddp_cuda_top_k_select(ddp_cuda_stream(d), told_by(x, x->rank) + s.at,
                                       x->m + s.from, &s, (unsigned *)(void *)x->scratch));
}

static void put(ddp_device *d, const ddp_largest *x, int rank, const float *ran, int clear)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next_section(&s, x->count, x->percent))
        DDP_CUDA(cuda_of(d), ddp_cuda_top_k_put_told(ddp_cuda_stream(d), clear ? x->error : x->m,
                                                     told_by(x, rank), &s, ran, clear));
}

/* Decode as the host does: ranks are added one after the other. */
static void decode(ddp_device *d, const ddp_largest *x, const float *ran)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_keep_error(ddp_cuda_stream(d), x->m, x->error, ran, x->count));
    put(d, x, x->rank, ran, 1);
    for (int rank = 0; rank < x->ranks; rank++)
        put(d, x, rank, ran, 0);
}

static const ddp_largest_ops ops = {.encode = encode, .decode = decode};

const ddp_largest_ops *const ddp_largest_on_gpu = &ops;
