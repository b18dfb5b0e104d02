/* The steps of PowerSGD on a GPU: the functions of low_rank.h, which queue the kernels of
 * matrix_cuda.cu. */
#include "algorithms/powersgd/low_rank_cuda.h"
#include "device/cuda.h"

static ddp_cuda *cuda_of(ddp_device *d)
{
    return (ddp_cuda *)d;
}

static void compute_p(ddp_device *d, const ddp_low_rank *x)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_add_times(ddp_cuda_stream(d), x));
}

static void compute_q(ddp_device *d, const ddp_low_rank *x)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_orthogonalize(ddp_cuda_stream(d), x));
    DDP_CUDA(cuda_of(d), ddp_cuda_transposed_times(ddp_cuda_stream(d), x));
}

static void decode(ddp_device *d, const ddp_low_rank *x, const float *ran, float share)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_approximate(ddp_cuda_stream(d), x, ran, share));
}

static void renew_q(ddp_device *d, const ddp_low_rank *x, const float *ran)
{
    DDP_CUDA(cuda_of(d), ddp_cuda_renew_q(ddp_cuda_stream(d), x, ran));
}

static const ddp_low_rank_ops ops = {
    .compute_p = compute_p, .compute_q = compute_q, .decode = decode, .renew_q = renew_q};

const ddp_low_rank_ops *const ddp_low_rank_on_gpu = &ops;
