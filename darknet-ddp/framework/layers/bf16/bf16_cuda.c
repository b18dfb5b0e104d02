#include "layers/bf16/bf16_cuda.h"

#ifdef CUDNN
#include "convolutional_layer.h"
#include "cuda.h"
#include "utils.h"

#include <stdio.h>

/*
 * The backend of a GPU: convolutions by cuDNN in NHWC, all else by our kernels. cuDNN gives
 * gradients of weights in bf16; they are then added to the layer's gradients in float32.
 */

static const char *name()
{
    return "cuDNN";
}

// Cores that multiply bf16 came with compute capability 8.0.
static const char *missing()
{
    static char text[400];
    struct cudaDeviceProp p;
    check_error(cudaGetDeviceProperties(&p, cuda_get_device()));
    (void)snprintf(text, sizeof(text),
                   "a GPU of compute capability 8.0 or more; GPU %d, %s, has %d.%d", gpu_index,
                   p.name, p.major, p.minor);
    return p.major < 8 ? text : 0;
}

// ---- memory ----

static void *make_halves(size_t n)
{
    return cuda_make_array(0, (n + 1) / 2);
}

static void *resize_halves(void *x, size_t n)
{
    return cuda_resize_array(x, (n + 1) / 2);
}

static void free_halves(void *x)
{
    cuda_free(x);
}

static void zero_halves(void *x, size_t n)
{
    check_error(cudaMemsetAsync(x, 0, 2 * n, 0));
}

static float **float_output(layer *l)
{
    return &l->output_gpu;
}

static float **float_delta(layer *l)
{
    return &l->delta_gpu;
}

static float *make_floats(size_t n)
{
    return cuda_make_array(0, n);
}

static void drop(float **x)
{
    cuda_free(*x);
    *x = 0;
}

static void drop_floats(layer *l, int keep_output)
{
    if (!keep_output) {
        drop(&l->output_gpu);
        drop(&l->delta_gpu);
    }
    drop(&l->x_gpu);
    drop(&l->activation_input_gpu);
}

static const float *network_input(network net)
{
    return net.input_gpu;
}

static void set_passes(layer *l, void (*forward)(layer, network), void (*backward)(layer, network))
{
    l->forward_gpu = forward;
    l->backward_gpu = backward;
}

// ---- [convolutional] ----

static int prepare(layer *l)
{
    bf16_arrays *a = l->bf16;
    if (!try_cudnn_convolutional_setup(l))
        return 0;
    if (!a->weights) {
        a->weights = make_halves((size_t)l->nweights);
        a->weight_updates = make_halves((size_t)l->nweights);
    }
    return 1;
}

static void free_convolution(layer l)
{
    cuda_free(l.bf16->weights);
    cuda_free(l.bf16->weight_updates);
}

static void convolve(layer l, network net, const void *input)
{
    float one = 1, zero = 0;
    bf16_arrays *a = l.bf16;
    bf16_from_floats_gpu((size_t)l.n, l.c / l.groups, l.size * l.size, l.weights_gpu, 1,
                         a->weights);
    check_cudnn(cudnnSetConvolutionMathType(l.convDesc, l.fw_math));
    check_cudnn(cudnnConvolutionForward(cudnn_handle(), &one, l.srcTensorDesc, input, l.weightDesc,
                                        a->weights, l.convDesc, l.fw_algo, net.workspace,
                                        l.workspace_size, &zero, l.dstTensorDesc,
                                        a->x ? a->x : a->output));
}

static void convolve_backward_weights(layer l, network net, const void *input)
{
    float one = 1, zero = 0;
    bf16_arrays *a = l.bf16;
    check_cudnn(cudnnSetConvolutionMathType(l.convDesc, l.bf_math));
    check_cudnn(cudnnConvolutionBackwardFilter(
        cudnn_handle(), &one, l.srcTensorDesc, input, l.ddstTensorDesc, a->delta, l.convDesc,
        l.bf_algo, net.workspace, l.workspace_size, &zero, l.dweightDesc, a->weight_updates));
    bf16_to_floats_gpu((size_t)l.n, l.c / l.groups, l.size * l.size, a->weight_updates, 0,
                       l.weight_updates_gpu);
}

static void convolve_backward_input(layer l, network net, int set, void *delta)
{
    float one = 1, keep = !set;
    bf16_arrays *a = l.bf16;
    check_cudnn(cudnnSetConvolutionMathType(l.convDesc, l.bd_math));
    check_cudnn(cudnnConvolutionBackwardData(
        cudnn_handle(), &one, l.weightDesc, a->weights, l.ddstTensorDesc, a->delta, l.convDesc,
        l.bd_algo, net.workspace, l.workspace_size, &keep, l.dsrcTensorDesc, delta));
}

static int can_fuse_sizes(layer l, layer shortcut)
{
    (void)l;
    (void)shortcut;
    return 0;
}

const bf16_backend bf16_cuda = {
    .name = name,
    .missing = missing,
    .has_activation = bf16_has_activation_gpu,
    .can_fuse_sizes = can_fuse_sizes,
    .make = make_halves,
    .resize = resize_halves,
    .free = free_halves,
    .zero = zero_halves,
    .float_output = float_output,
    .float_delta = float_delta,
    .make_floats = make_floats,
    .drop_floats = drop_floats,
    .from_floats = bf16_from_floats_gpu,
    .to_floats = bf16_to_floats_gpu,
    .pull_floats = cuda_pull_array,
    .free_floats = cuda_free,
    .network_input = network_input,
    .set_passes = set_passes,
    .use_shared = use_shared_gpu,
    .prepare = prepare,
    .prepare_floats = cudnn_convolutional_setup,
    .free_convolution = free_convolution,
    .convolve = convolve,
    .convolve_backward_weights = convolve_backward_weights,
    .convolve_backward_input = convolve_backward_input,
    .normalize = bf16_normalize_gpu,
    .normalize_and_add = bf16_normalize_and_add_gpu,
    .recompute_output = bf16_recompute_output_gpu,
    .add_bias = bf16_add_bias_gpu,
    .normalize_backward = bf16_normalize_backward_gpu,
    .normalize_and_add_backward = bf16_normalize_and_add_backward_gpu,
    .add_bias_backward = bf16_add_bias_backward_gpu,
    .maxpool = bf16_maxpool_gpu,
    .maxpool_backward = bf16_maxpool_backward_gpu,
    .upsample = bf16_upsample_gpu,
    .upsample_backward = bf16_upsample_backward_gpu,
    .avgpool = bf16_avgpool_gpu,
    .avgpool_backward = bf16_avgpool_backward_gpu,
    .copy_channels = bf16_copy_channels_gpu,
    .shortcut = bf16_shortcut_gpu,
    .shortcut_backward = bf16_shortcut_backward_gpu,
    .multiply = bf16_multiply_gpu,
    .multiply_backward = bf16_multiply_backward_gpu,
};
#endif
