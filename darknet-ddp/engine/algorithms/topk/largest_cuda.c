/* Top-k compression on a GPU: the functions of largest.h, which queue the kernels of
 * top_k_cuda.cu. */
#include "algorithms/topk/largest_cuda.h"

#include "algorithms/compression.h"
#include "device/cuda.h"

static ddp_cuda *cuda_of(ddp_device *d)
{
    return (ddp_cuda *)d;
}

static void encode(ddp_device *d, const ddp_matrix *m, float *scratch)
{
    ddp_top_k_section s = {0};

    ddp_device_add(d, m->gradient, m->error, m->count);
    while (ddp_top_k_next_section(&s, m->count, m->value))
        DDP_CUDA(cuda_of(d),
                 ddp_cuda_top_k_select(ddp_cuda_stream(d), ddp_matrix_payload_of(m, m->rank) + s.at,
                                       m->gradient + s.from, &s, (unsigned *)(void *)scratch));
}

static void put(ddp_device *d, const ddp_matrix *m, int rank, const float *ran, int clear)
{
    ddp_top_k_section s = {0};

    while (ddp_top_k_next_section(&s, m->count, m->value))
        DDP_CUDA(cuda_of(d), ddp_cuda_top_k_put(ddp_cuda_stream(d), clear ? m->error : m->gradient,
                                                ddp_matrix_payload_of(m, rank), &s, ran, clear));
}

/* Decode as the host does: ranks are added one after the other. */
static void decode(ddp_device *d, const ddp_matrix *m, const float *ran)
{
    DDP_CUDA(cuda_of(d),
             ddp_cuda_keep_error(ddp_cuda_stream(d), m->gradient, m->error, ran, m->count));
    put(d, m, m->rank, ran, 1);
    for (int rank = 0; rank < m->ranks; rank++)
        put(d, m, rank, ran, 0);
}

static const ddp_largest_ops ops = {.encode = encode, .decode = decode};

const ddp_largest_ops *const ddp_largest_on_gpu = &ops;
