/* cuDNN. */
#include "cudnn.h"

#include "convolve.h"
#include "emulated.h"

#include <algorithm>
#include <cstring>
#include <vector>

struct emulated_cudnn {
    cudaStream_t stream = nullptr;
};

struct emulated_tensor {
    int n, c, h, w;
};

struct emulated_filter {
    int k, c, h, w;
};

struct emulated_convolution {
    int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
    int groups = 1;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

using namespace emulated;

namespace
{

int output_size(int size, int pad, int kernel, int stride, int dilation)
{
    return (size + 2 * pad - (dilation * (kernel - 1) + 1)) / stride + 1;
}

/* False: the descriptors do not belong together. */
bool shape_of(const emulated_tensor *x, const emulated_filter *w, const emulated_convolution *v,
              const emulated_tensor *y, shape &s)
{
    s = {};
    if (!x || !w || !v || !y || v->groups < 1)
        return false;
    s = {x->n, v->groups, w->c,     x->h,     x->w,        w->k / v->groups, y->h,          y->w,
         w->h, w->w,      v->pad_h, v->pad_w, v->stride_h, v->stride_w,      v->dilation_h, v->dilation_w};
    return x->c == w->c * v->groups && y->c == w->k && w->k % v->groups == 0 && y->n == x->n
           && y->h == output_size(x->h, v->pad_h, w->h, v->stride_h, v->dilation_h)
           && y->w == output_size(x->w, v->pad_w, w->w, v->stride_w, v->dilation_w);
}

/* Algorithms other than these two, by direction and number, do not exist. */
enum direction { forward, backward_data, backward_filter };

struct algorithm {
    int number;
    bool has_workspace;
    cudnnDeterminism_t determinism;
};

const algorithm algorithms[3][2] = {
    {{CUDNN_CONVOLUTION_FWD_ALGO_GEMM, true, CUDNN_DETERMINISTIC},
     {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, false, CUDNN_DETERMINISTIC}},
    {{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, false, CUDNN_NON_DETERMINISTIC},
     {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, true, CUDNN_DETERMINISTIC}},
    {{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, false, CUDNN_NON_DETERMINISTIC},
     {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, true, CUDNN_DETERMINISTIC}},
};

const algorithm *find(direction way, int number)
{
    for (const algorithm &a : algorithms[way])
        if (a.number == number)
            return &a;
    return nullptr;
}

/* Fastest first, as far as cuDNN promises; those that cannot be used last. */
template <class Perf>
cudnnStatus_t list(direction way, bool valid, const shape &s, const emulated_convolution *v,
                   size_t workspace_bytes, int room, int *count, Perf *perfs)
{
    if (!valid || room < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *count = 0;
    for (bool usable : {true, false})
        for (const algorithm &a : algorithms[way]) {
            size_t needed = a.has_workspace ? s.columns_bytes() : 0;

            if (*count == room || (needed <= workspace_bytes) != usable)
                continue;
            Perf &p = perfs[*count];
            std::memset(&p, 0, sizeof p);
            p.algo = static_cast<decltype(p.algo)>(a.number);
            p.status = usable ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_INTERNAL_ERROR;
            p.time = usable ? static_cast<float>(1 + *count) : -1.0f;
            p.memory = needed;
            p.determinism = a.determinism;
            p.mathType = v->math;
            ++*count;
        }
    return CUDNN_STATUS_SUCCESS;
}

/* What a measurement leaves in the memory that it may write. */
void spoil(cudnnHandle_t handle, void *x, size_t bytes, void *workspace, size_t workspace_bytes)
{
    wait(enqueue(handle->stream, [=] {
        std::memset(x, 0xff, bytes);
        std::memset(workspace, 0xff, std::min(workspace_bytes, size_t(1) << 20));
    }));
}

cudnnStatus_t workspace_size(direction way, bool valid, const shape &s, int number, size_t *bytes)
{
    const algorithm *a = find(way, number);

    if (!valid || !a)
        return CUDNN_STATUS_BAD_PARAM;
    *bytes = a->has_workspace ? s.columns_bytes() : 0;
    return CUDNN_STATUS_SUCCESS;
}

/* Queue run(columns). */
template <class Run>
cudnnStatus_t queue(cudnnHandle_t handle, const char *call, direction way, bool valid,
                    const shape &s, int number, void *workspace, size_t workspace_bytes, Run run)
{
    const algorithm *a = find(way, number);

    if (!handle)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (!valid || !a || (a->has_workspace && (!workspace || workspace_bytes < s.columns_bytes())))
        return CUDNN_STATUS_BAD_PARAM;
    if (fails(call))
        return CUDNN_STATUS_EXECUTION_FAILED;
    if (a->has_workspace)
        (void)enqueue(handle->stream, [=] { run(static_cast<float *>(workspace)); });
    else
        (void)enqueue(handle->stream, [=] {
            std::vector<float> columns(s.columns_bytes() / sizeof(float));
            run(columns.data());
        });
    let_run();
    return CUDNN_STATUS_SUCCESS;
}

float number(const void *x)
{
    return *static_cast<const float *>(x);
}

const float *floats(const void *x)
{
    return static_cast<const float *>(x);
}

template <class T> cudnnStatus_t create(T **made)
{
    *made = new T{};
    return CUDNN_STATUS_SUCCESS;
}

template <class T> cudnnStatus_t destroy(T *x)
{
    delete x;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t status_if(bool valid)
{
    return valid ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

} // namespace

extern "C" {

size_t cudnnGetVersion(void)
{
    return CUDNN_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    switch (status) {
    case CUDNN_STATUS_SUCCESS:
        return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED:
        return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM:
        return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
        return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR:
        return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_EXECUTION_FAILED:
        return "CUDNN_STATUS_EXECUTION_FAILED";
    }
    return "CUDNN_UNKNOWN_STATUS";
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    if (!devices() || fails("cudnnCreate"))
        return CUDNN_STATUS_NOT_INITIALIZED;
    return create(handle);
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    wait_everything();
    return destroy(handle);
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor)
{
    return create(tensor);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor)
{
    return destroy(tensor);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t,
                                         cudnnDataType_t, int n, int c, int h, int w)
{
    *tensor = {n, c, h, w};
    return status_if(n > 0 && c > 0 && h > 0 && w > 0);
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter)
{
    return create(filter);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter)
{
    return destroy(filter);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t,
                                         cudnnTensorFormat_t, int k, int c, int h, int w)
{
    *filter = {k, c, h, w};
    return status_if(k > 0 && c > 0 && h > 0 && w > 0);
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convolution)
{
    return create(convolution);
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution)
{
    return destroy(convolution);
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convolution, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t)
{
    if (mode != CUDNN_CROSS_CORRELATION)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *convolution = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
    return status_if(pad_h >= 0 && pad_w >= 0 && stride_h > 0 && stride_w > 0 && dilation_h > 0
                     && dilation_w > 0);
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups)
{
    convolution->groups = groups;
    return status_if(groups > 0);
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                          cudnnMathType_t math)
{
    convolution->math = math;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- choice of algorithms ---- */

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

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t v, cudnnTensorDescriptor_t dx, int room, int *count,
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
        spoil(handle, out, s.images() * s.outputs() * sizeof(float), workspace, workspace_bytes);
    return list(forward, valid, s, v, workspace_bytes, room, count, perfs);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, const void *, cudnnTensorDescriptor_t dy,
    const void *, cudnnConvolutionDescriptor_t v, cudnnTensorDescriptor_t dx, void *out, int room,
    int *count, cudnnConvolutionBwdDataAlgoPerf_t *perfs, void *workspace, size_t workspace_bytes)
{
    shape s;
    bool valid = shape_of(dx, w, v, dy, s);

    if (valid)
        spoil(handle, out, s.images() * s.inputs() * sizeof(float), workspace, workspace_bytes);
    return list(backward_data, valid, s, v, workspace_bytes, room, count, perfs);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, const void *, cudnnTensorDescriptor_t dy,
    const void *, cudnnConvolutionDescriptor_t v, cudnnFilterDescriptor_t dw, void *out, int room,
    int *count, cudnnConvolutionBwdFilterAlgoPerf_t *perfs, void *workspace, size_t workspace_bytes)
{
    shape s;
    bool valid = shape_of(x, dw, v, dy, s);

    if (valid)
        spoil(handle, out, static_cast<size_t>(s.groups) * s.weights() * sizeof(float), workspace,
              workspace_bytes);
    return list(backward_filter, valid, s, v, workspace_bytes, room, count, perfs);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t w,
                                                      cudnnConvolutionDescriptor_t v,
                                                      cudnnTensorDescriptor_t y,
                                                      cudnnConvolutionFwdAlgo_t algo, size_t *bytes)
{
    shape s;
    bool valid = shape_of(x, w, v, y, s);

    return workspace_size(forward, valid, s, algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t v, cudnnTensorDescriptor_t dx, cudnnConvolutionBwdDataAlgo_t algo,
    size_t *bytes)
{
    shape s;
    bool valid = shape_of(dx, w, v, dy, s);

    return workspace_size(backward_data, valid, s, algo, bytes);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t v, cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algo, size_t *bytes)
{
    shape s;
    bool valid = shape_of(x, dw, v, dy, s);

    return workspace_size(backward_filter, valid, s, algo, bytes);
}

/* ---- convolutions ---- */

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      cudnnTensorDescriptor_t x_tensor, const void *x,
                                      cudnnFilterDescriptor_t filter, const void *w,
                                      cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algo, void *workspace,
                                      size_t workspace_bytes, const void *beta,
                                      cudnnTensorDescriptor_t y_tensor, void *y)
{
    shape s;
    bool valid = shape_of(x_tensor, filter, convolution, y_tensor, s);
    float by = number(alpha), keep = number(beta);

    return queue(handle, "cudnnConvolutionForward", forward, valid, s, algo, workspace,
                 workspace_bytes, [=](float *columns) {
                     convolve(s, by, floats(x), floats(w), keep, static_cast<float *>(y), columns);
                 });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           cudnnFilterDescriptor_t filter, const void *w,
                                           cudnnTensorDescriptor_t dy_tensor, const void *dy,
                                           cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algo, void *workspace,
                                           size_t workspace_bytes, const void *beta,
                                           cudnnTensorDescriptor_t dx_tensor, void *dx)
{
    shape s;
    bool valid = shape_of(dx_tensor, filter, convolution, dy_tensor, s);
    float by = number(alpha), keep = number(beta);

    return queue(handle, "cudnnConvolutionBackwardData", backward_data, valid, s, algo, workspace,
                 workspace_bytes, [=](float *columns) {
                     convolve_back_data(s, by, floats(w), floats(dy), keep,
                                        static_cast<float *>(dx), columns);
                 });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             cudnnTensorDescriptor_t x_tensor, const void *x,
                                             cudnnTensorDescriptor_t dy_tensor, const void *dy,
                                             cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void *workspace,
                                             size_t workspace_bytes, const void *beta,
                                             cudnnFilterDescriptor_t filter, void *dw)
{
    shape s;
    bool valid = shape_of(x_tensor, filter, convolution, dy_tensor, s);
    float by = number(alpha), keep = number(beta);

    return queue(handle, "cudnnConvolutionBackwardFilter", backward_filter, valid, s, algo,
                 workspace, workspace_bytes, [=](float *columns) {
                     convolve_back_filter(s, by, floats(x), floats(dy), keep,
                                          static_cast<float *>(dw), columns);
                 });
}

} // extern "C"
