/* The emulated cuDNN's table of convolution algorithms, and the calls by which a program chooses
 * one: lists of algorithms (with made-up times), and sizes of workspaces. */
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

/* Return true if an algorithm takes arrays of that shape. A place of the table without an algorithm
 * is zero, and takes none. */
bool takes(const algorithm &a, const shape &s)
{
    return s.bf16 ? a.takes_bf16 : a.takes_floats;
}

/* List algorithms, the fastest first, as cuDNN promises. */
template <class Perf>
cudnnStatus_t list(const char *call, direction way, bool valid, const shape &s,
                   const emulated_convolution *v, int room, int *count, Perf *perfs)
{
    if (!valid || room < 1)
        return CUDNN_STATUS_BAD_PARAM;
    if (fails(call))
        return static_cast<cudnnStatus_t>(CUDNN_STATUS_NOT_SUPPORTED + 1); /* one of its kinds */
    *count = 0;
    for (const algorithm &a : algorithms[way]) {
        if (*count == room || !takes(a, s))
            continue;
        Perf &p = perfs[*count];
        std::memset(&p, 0, sizeof p);
        p.algo = static_cast<decltype(p.algo)>(a.number);
        p.status = CUDNN_STATUS_SUCCESS;
        p.time = static_cast<float>(1 + *count);
        p.memory = a.has_workspace ? s.columns_bytes() : 0;
        p.determinism = a.determinism;
        p.mathType = v->math;
        ++*count;
    }
    return CUDNN_STATUS_SUCCESS;
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

/* Return true if all three are of one type, each in the layout that goes with it, and sums are in
 * floats. */
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

    return list("cudnnGetConvolutionForwardAlgorithm_v7", forward, valid, s, v, room, count, perfs);
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

    return list("cudnnGetConvolutionBackwardDataAlgorithm_v7", backward_data, valid, s, v, room,
                count, perfs);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t v, cudnnFilterDescriptor_t dw, int room, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *perfs)
{
    shape s;
    bool valid = shape_of(x, dw, v, dy, s);

    return list("cudnnGetConvolutionBackwardFilterAlgorithm_v7", backward_filter, valid, s, v, room,
                count, perfs);
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
