/* cuDNN's choice of algorithms. */
#include "cudnn_shapes.h"
#include "emulated.h"

#include <algorithm>
#include <cstring>

using namespace emulated;

namespace
{

int output_size(int size, int pad, int kernel, int stride, int dilation)
{
    return (size + 2 * pad - (dilation * (kernel - 1) + 1)) / stride + 1;
}

const algorithm algorithms[3][3] = {
    {{CUDNN_CONVOLUTION_FWD_ALGO_GEMM, true, CUDNN_DETERMINISTIC, true, false, false},
     {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, true, CUDNN_DETERMINISTIC, false, true,
      true},
     {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, false, CUDNN_DETERMINISTIC, true, true, true}},
    {{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, false, CUDNN_NON_DETERMINISTIC, true, true, false},
     {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, true, CUDNN_DETERMINISTIC, true, true, true}},
    {{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, false, CUDNN_NON_DETERMINISTIC, true, true, false},
     {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, true, CUDNN_DETERMINISTIC, true, true, true}},
};

/* A place of the table without an algorithm is zero, and takes nothing. */
bool takes(const algorithm &a, const shape &s)
{
    return s.bf16 ? a.of_bf16 : a.of_floats;
}

uint64_t number_of(const shape &s, direction way)
{
    uint64_t number = way;

    for (int size :
         {s.n, s.groups, s.c, s.h, s.w, s.k, s.kernel_h, s.kernel_w, s.stride_h, s.stride_w})
        number = number * 1000003 + static_cast<uint64_t>(size);
    return number;
}

/* What a measurement would say, in some order; with noise on, in another on each rank. */
template <class Perf> void measure(direction way, const shape &s, Perf *perfs, int usable)
{
    for (int i = 0; i < usable; i++)
        perfs[i].time = measured_ms(number_of(s, way), perfs[i].algo);
    std::sort(perfs, perfs + usable, [](const Perf &a, const Perf &b) { return a.time < b.time; });
}

/* Fastest first, as far as cuDNN promises; those that cannot be used last. */
template <class Perf>
cudnnStatus_t list(direction way, bool valid, const shape &s, const emulated_convolution *v,
                   size_t workspace_bytes, int room, int *count, Perf *perfs, bool measured = false)
{
    int usable_ones = 0;

    if (!valid || room < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *count = 0;
    for (bool usable : {true, false})
        for (const algorithm &a : algorithms[way]) {
            size_t needed = a.has_workspace ? s.columns_bytes() : 0;

            if (*count == room || !takes(a, s) || (needed <= workspace_bytes) != usable)
                continue;
            Perf &p = perfs[*count];
            std::memset(&p, 0, sizeof p);
            p.algo = static_cast<decltype(p.algo)>(a.number);
            p.status = usable ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_INTERNAL_ERROR;
            p.time = usable ? static_cast<float>(1 + *count) : -1.0f;
            p.memory = needed;
            p.determinism = a.determinism;
            p.mathType = v->math;
            usable_ones += usable;
            ++*count;
        }
    if (measured && has_noise())
        measure(way, s, perfs, usable_ones);
    return CUDNN_STATUS_SUCCESS;
}

size_t element_bytes(const shape &s)
{
    return s.bf16 ? sizeof(uint16_t) : sizeof(float);
}

/* What a measurement leaves in the memory that it may write. */
void spoil(cudnnHandle_t handle, void *x, size_t bytes, void *workspace, size_t workspace_bytes)
{
    wait(enqueue(handle->stream, [=] {
        std::memset(x, 0xff, bytes);
        std::memset(workspace, 0xff, std::min(workspace_bytes, size_t(1) << 20));
    }));
}

cudnnStatus_t workspace_size(const char *call, direction way, bool valid, const shape &s,
                             int number, size_t *bytes)
{
    const algorithm *a = find_algorithm(way, s, number);

    if (!valid || !a)
        return CUDNN_STATUS_BAD_PARAM;
    if (fails(call))
        return CUDNN_STATUS_NOT_SUPPORTED;
    *bytes = a->has_workspace ? s.columns_bytes() : 0;
    return CUDNN_STATUS_SUCCESS;
}

} // namespace

namespace emulated
{

/* All three of one type, each in the layout that goes with it, and sums in floats. */
static bool are_supported(const emulated_tensor &x, const emulated_filter &w,
                          const emulated_convolution &v, const emulated_tensor &y)
{
    cudnnTensorFormat_t format =
        w.type == CUDNN_DATA_BFLOAT16 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;

    return x.type == w.type && y.type == w.type && v.computed_in == CUDNN_DATA_FLOAT
           && x.format == format && w.format == format && y.format == format;
}

bool shape_of(const emulated_tensor *x, const emulated_filter *w, const emulated_convolution *v,
              const emulated_tensor *y, shape &s)
{
    s = {};
    if (!x || !w || !v || !y || v->groups < 1)
        return false;
    s = {x->n,
         v->groups,
         w->c,
         x->h,
         x->w,
         w->k / v->groups,
         y->h,
         y->w,
         w->h,
         w->w,
         v->pad_h,
         v->pad_w,
         v->stride_h,
         v->stride_w,
         v->dilation_h,
         v->dilation_w,
         w->type == CUDNN_DATA_BFLOAT16};
    if (!are_supported(*x, *w, *v, *y))
        return false;
    return x->c == w->c * v->groups && y->c == w->k && w->k % v->groups == 0 && y->n == x->n
           && y->h == output_size(x->h, v->pad_h, w->h, v->stride_h, v->dilation_h)
           && y->w == output_size(x->w, v->pad_w, w->w, v->stride_w, v->dilation_w);
}

const algorithm *find_algorithm(direction way, const shape &s, int number)
{
    for (const algorithm &a : algorithms[way])
        if (a.number == number && takes(a, s))
            return &a;
    return nullptr;
}

} // namespace emulated

extern "C" {

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w,
                                                     cudnnConvolutionDescriptor_t v,
                                                     cudnnTensorDescriptor_t y, int room,
                                                     int *count,
                                                     cudnnConvolutionFwdAlgoPerf_t *perfs)
{
    shape s;
    bool valid = shape_of(x, w, v, y, s);

    return list(forward, valid, s, v, SIZE_MAX, room, count, perfs);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy,
                                                          cudnnConvolutionDescriptor_t v,
                                                          cudnnTensorDescriptor_t dx, int room,
                                                          int *count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t *perfs)
{
    shape s;
    bool valid = shape_of(dx, w, v, dy, s);

    return list(backward_data, valid, s, v, SIZE_MAX, room, count, perfs);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t v, cudnnFilterDescriptor_t dw, int room, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *perfs)
{
    shape s;
    bool valid = shape_of(x, dw, v, dy, s);

    return list(backward_filter, valid, s, v, SIZE_MAX, room, count, perfs);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void *, cudnnFilterDescriptor_t w,
    const void *, cudnnConvolutionDescriptor_t v, cudnnTensorDescriptor_t y, void *out, int room,
    int *count, cudnnConvolutionFwdAlgoPerf_t *perfs, void *workspace, size_t workspace_bytes)
{
    shape s;
    bool valid = shape_of(x, w, v, y, s);

    if (fails("cudnnFindConvolutionForwardAlgorithmEx"))
        return CUDNN_STATUS_EXECUTION_FAILED;
    if (valid)
        spoil(handle, out, s.images() * s.outputs() * element_bytes(s), workspace, workspace_bytes);
    return list(forward, valid, s, v, workspace_bytes, room, count, perfs, true);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, const void *, cudnnTensorDescriptor_t dy,
    const void *, cudnnConvolutionDescriptor_t v, cudnnTensorDescriptor_t dx, void *out, int room,
    int *count, cudnnConvolutionBwdDataAlgoPerf_t *perfs, void *workspace, size_t workspace_bytes)
{
    shape s;
    bool valid = shape_of(dx, w, v, dy, s);

    if (valid)
        spoil(handle, out, s.images() * s.inputs() * element_bytes(s), workspace, workspace_bytes);
    return list(backward_data, valid, s, v, workspace_bytes, room, count, perfs, true);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void *, cudnnTensorDescriptor_t dy,
    const void *, cudnnConvolutionDescriptor_t v, cudnnFilterDescriptor_t dw, void *out, int room,
    int *count, cudnnConvolutionBwdFilterAlgoPerf_t *perfs, void *workspace, size_t workspace_bytes)
{
    shape s;
    bool valid = shape_of(x, dw, v, dy, s);

    if (valid)
        spoil(handle, out, static_cast<size_t>(s.groups) * s.weights() * element_bytes(s),
              workspace, workspace_bytes);
    return list(backward_filter, valid, s, v, workspace_bytes, room, count, perfs, true);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t w,
                                                      cudnnConvolutionDescriptor_t v,
                                                      cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t algo, size_t *bytes)
{
    shape s;
    bool valid = shape_of(x, w, v, y, s);

    return workspace_size("cudnnGetConvolutionForwardWorkspaceSize", forward, valid, s, algo,
                          bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                           cudnnTensorDescriptor_t dy,
                                                           cudnnConvolutionDescriptor_t v,
                                                           cudnnTensorDescriptor_t dx,
                                                           cudnnConvolutionBwdDataAlgo_t algo,
                                                           size_t *bytes)
{
    shape s;
    bool valid = shape_of(dx, w, v, dy, s);

    return workspace_size("cudnnGetConvolutionBackwardDataWorkspaceSize", backward_data, valid, s,
                          algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t v, cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algo, size_t *bytes)
{
    shape s;
    bool valid = shape_of(x, dw, v, dy, s);

    return workspace_size("cudnnGetConvolutionBackwardFilterWorkspaceSize", backward_filter, valid,
                          s, algo, bytes);
}

} // extern "C"
