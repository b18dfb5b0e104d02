/* The calls of cuDNN for handles, descriptors and convolutions, on the emulated device. A
 * convolution (convolve.cpp) is checked, and queued on the handle's stream. */
#include "cudnn_arrays.h"
#include "cudnn_shapes.h"
#include "emulated.h"

#include <vector>

using namespace emulated;

namespace
{

/* Check a convolution's arguments, and queue run(columns). */
template <class Run>
cudnnStatus_t queue(cudnnHandle_t handle, const char *call, direction way, bool valid,
                    const shape &s, int number, void *workspace, size_t workspace_bytes, Run run)
{
    const algorithm *a = find_algorithm(way, s, number);

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
    run_ready();
    return CUDNN_STATUS_SUCCESS;
}

/* Return how an algorithm changes the last bits of its result. Each changes others. One that is not
 * deterministic changes others each time. Number 0, if it is deterministic, changes none. */
noise round_of(direction way, const shape &s, int number)
{
    const algorithm *a = find_algorithm(way, s, number);

    if (!has_noise())
        return {false, 0};
    if (a->determinism == CUDNN_NON_DETERMINISTIC)
        return {true, unique_number()};
    return {number > 0, static_cast<uint64_t>(number)};
}

/* Return true if an algorithm reads TF32: some use tensor cores, where the math type lets them. */
bool reads_tf32(direction way, const shape &s, int number, cudnnMathType_t math)
{
    return has_noise() && math != CUDNN_FMA_MATH && find_algorithm(way, s, number)->on_tensor_cores;
}

float number(const void *x)
{
    return *static_cast<const float *>(x);
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

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w)
{
    *tensor = {n, c, h, w, type, format};
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

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    *filter = {k, c, h, w, type, format};
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
                                              cudnnDataType_t computed_in)
{
    if (mode != CUDNN_CROSS_CORRELATION)
        return CUDNN_STATUS_NOT_SUPPORTED;
    *convolution = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
    convolution->computed_in = computed_in;
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
    cudnnMathType_t math = convolution->math;

    return queue(handle, "cudnnConvolutionForward", forward, valid, s, algo, workspace,
                 workspace_bytes, [=](float *columns) {
                     bool tf32 = reads_tf32(forward, s, algo, math);
                     result out(y, outputs_of(s), keep);

                     convolve(s, by, operand(x, inputs_of(s), tf32),
                              operand(w, weights_of(s), tf32), keep, out, columns);
                     out.write_back(round_of(forward, s, algo));
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
    cudnnMathType_t math = convolution->math;

    return queue(handle, "cudnnConvolutionBackwardData", backward_data, valid, s, algo, workspace,
                 workspace_bytes, [=](float *columns) {
                     bool tf32 = reads_tf32(backward_data, s, algo, math);
                     result out(dx, inputs_of(s), keep);

                     convolve_backward_data(s, by, operand(w, weights_of(s), tf32),
                                            operand(dy, outputs_of(s), tf32), keep, out, columns);
                     out.write_back(round_of(backward_data, s, algo));
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
    cudnnMathType_t math = convolution->math;

    return queue(handle, "cudnnConvolutionBackwardFilter", backward_filter, valid, s, algo,
                 workspace, workspace_bytes, [=](float *columns) {
                     bool tf32 = reads_tf32(backward_filter, s, algo, math);
                     result out(dw, weights_of(s), keep);

                     convolve_backward_filter(s, by, operand(x, inputs_of(s), tf32),
                                              operand(dy, outputs_of(s), tf32), keep, out, columns);
                     out.write_back(round_of(backward_filter, s, algo));
                 });
}

} // extern "C"
