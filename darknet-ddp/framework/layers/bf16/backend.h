/* layers/bf16/backend.h: the functions that compute layers in bf16 on one kind of device, a GPU or
 * a CPU, as a table.
 *
 * Code that calls them, such as bf16_layers.c, is the same for each device. All bf16 arrays but
 * those of weights are in NHWC order (image, row, column, channel), on the device. The layer's x,
 * output and delta are those in l.bf16 (bf16_arrays), unless float32 is named. Parameters named
 * set, set_from, ...: 1 writes the result, 0 adds it to the array. A fused layer also computes the
 * [shortcut] behind it (bf16_arrays.fused). */
#ifndef BF16_BACKEND_H
#define BF16_BACKEND_H
#include "layers/bf16/bf16.h"

typedef struct bf16_backend {
    /* Return the name of the instructions or library that compute, such as "amx_bf16", to print. */
    const char *(*name)(void);
    /* Return what the device lacks for bf16, a phrase for an error message; null if nothing. */
    const char *(*missing)(void);
    /* Return 1 if layers in bf16 can have this activation. */
    int (*has_activation)(ACTIVATION a);

    /* Return 1 if a [convolutional] can be fused with the [shortcut] behind it, though the other
     * layer that the [shortcut] adds has another size. */
    int (*can_fuse_sizes)(layer l, layer shortcut);

    /* ---- memory ---- */

    /* Allocate n values of bf16, all zero. */
    void *(*make)(size_t n);
    /* Return x, an array of make, resized to n values, all undefined. x null: return null. */
    void *(*resize)(void *x, size_t n);
    void (*free)(void *x);
    void (*zero)(void *x, size_t n);
    float **(*float_output)(layer *l); /* Return &l->output; on a GPU &l->output_gpu. */
    float **(*float_delta)(layer *l);  /* Return &l->delta; on a GPU &l->delta_gpu. */
    /* Allocate n floats on the device, all zero; never null. Free them with free_floats. */
    float *(*make_floats)(size_t n);
    /* Free the float32 arrays that a layer in bf16 does not need. keep_output: 1 keeps output and
     * delta. */
    void (*drop_floats)(layer *l, int keep_output);
    /* Convert a float array of outer x channels x inner to a bf16 array of outer x inner x
     * channels (from_floats), or back (to_floats). Both arrays are on the device. */
    void (*from_floats)(size_t outer, int channels, int inner, const float *from, int set,
                        void *to);
    void (*to_floats)(size_t outer, int channels, int inner, const void *from, int set, float *to);
    /* Wait for queued work, then copy n floats of the device to `to` on the host. */
    void (*pull_floats)(float *from, float *to, size_t n);
    void (*free_floats)(float *x);
    /* Return the network's input, in float32, on the device. */
    const float *(*network_input)(network net);
    void (*set_passes)(layer *l, void (*forward)(layer, network), void (*backward)(layer, network));
    /* Point the parameters of *l to those of l->share_layer, if any. Call before each pass of l. */
    void (*use_shared)(layer *l);

    /* ---- convolution of a [convolutional] or [connected]. A [connected] is computed as a
     * convolution whose window is the whole input ---- */

    /* Choose an algorithm for the convolution in its present size. Set l->workspace_size to the
     * bytes of workspace that the layer's passes need. Return 0 if there is no algorithm. */
    int (*prepare)(layer *l);
    /* Choose an algorithm for a [convolutional] that runs in float32, when the network is made. */
    void (*prepare_floats)(layer *l);
    /* Free the memory that prepare has allocated. */
    void (*free_convolution)(layer l);
    /* Compute the convolution to the layer's x, if it has one, else to its output. On a CPU, also
     * add the biases of a layer without BatchNorm. */
    void (*convolve)(layer l, network net, const void *input);
    /* Add the gradient of the weights to the layer's weight_updates, in float32. Call after
     * normalize_backward or add_bias_backward. input: the layer's input, in bf16. */
    void (*convolve_backward_weights)(layer l, network net, const void *input);
    /* Write or add the gradient of the convolution's input to input_delta. Call after
     * normalize_backward or add_bias_backward; net.train was 1 in the forward pass. */
    void (*convolve_backward_input)(layer l, network net, int set, void *input_delta);

    /* ---- BatchNorm, biases and activation of a [convolutional] or [connected]. In training with
     * net.statistics, BatchNorm's statistics are those of all ranks, for which each waits ---- */

    /* Compute the layer's output from its x: BatchNorm, then the activation. In training, compute
     * the mini-batch's statistics first, and update the running ones. */
    void (*normalize)(layer l, network net);
    /* Compute a fused layer, and its [shortcut]'s output: alpha*y + beta*from, activated. `y` is
     * the output that normalize would write, `from` that of the other layer that the [shortcut]
     * reads. Where `from` has no value, it is y, activated. */
    void (*normalize_and_add)(layer l, network net, layer shortcut, float alpha, const void *from);
    /* Compute the output of a fused layer, which keeps none, from its x and its present parameters.
     * Write it to `output` (bf16). */
    void (*recompute_output)(layer l, void *output);
    /* Compute the output of a layer without BatchNorm from the convolution's result: add the biases
     * (not on a CPU: convolve has added them), then activate. */
    void (*add_bias)(layer l);
    /* Replace the layer's delta by the gradient of the convolution's result. Add the gradients of
     * scales and biases to l.scale_updates and l.bias_updates. */
    void (*normalize_backward)(layer l, network net);
    /* Run the backward pass of a fused layer's [shortcut], then normalize_backward. The [shortcut]
     * writes or adds (set_from) its part to from_delta, the delta of the other layer that it
     * reads. Null: there is no such delta, and set_from is 0. alpha: factor of l's own output. */
    void (*normalize_and_add_backward)(layer l, network net, layer shortcut, float alpha,
                                       int set_from, void *from_delta);
    /* Replace the delta of a layer without BatchNorm by the gradient of its convolution's result.
     * Add the gradient of the biases to l.bias_updates. */
    void (*add_bias_backward)(layer l, network net);

    /* ---- layers without parameters. input, delta: output and delta of the layer before ---- */

    void (*maxpool)(layer l, const void *input);
    void (*maxpool_backward)(layer l, int set, void *delta);
    void (*upsample)(layer l, const void *input);
    void (*upsample_backward)(layer l, int set, void *delta);
    void (*avgpool)(layer l, const void *input);
    void (*avgpool_backward)(layer l, int set, void *delta);
    /* Write or add (set) `channels` channels of each of `cells` cells, the pixels of all images.
     *   from   has from_channels channels a cell; first_from is the first that is copied
     *   to     has to_channels channels a cell; first_to is the first that is changed */
    void (*copy_channels)(size_t cells, int channels, const void *from, int from_channels,
                          int first_from, int set, void *to, int to_channels, int first_to);
    /* Compute a [shortcut]: alpha*input + l.beta*from, activated; input alone where `from`, the
     * output of the other layer that it reads, is smaller and has no value. input null: zeros. */
    void (*shortcut)(layer l, const void *input, float alpha, const void *from);
    /* Run the backward pass of a [shortcut]: alpha times the gradient goes to input_delta, l.beta
     * times the gradient to from_delta. A delta that is null is left out; its set must be 0. */
    void (*shortcut_backward)(layer l, float alpha, int set, void *input_delta, int set_from,
                              void *from_delta);
    /* Compute a [scale_channels] or [sam]: x times scales, activated. `x`: output of layer l.index.
     * `scales`: output of the layer before, l.w x l.h x l.c values an image, one for each value,
     * channel or cell of x. */
    void (*multiply)(layer l, const void *x, const void *scales);
    /* Run the backward pass of a [scale_channels] or [sam]: the gradient of x goes to x_delta, that
     * of scales to scales_delta. A delta that is null is left out. */
    void (*multiply_backward)(layer l, const void *x, const void *scales, int set_x, void *x_delta,
                              int set_scales, void *scales_delta);
} bf16_backend;

/* Return the backend for the GPU gpu_index (Darknet's), or for the CPU if gpu_index is negative.
 * Return null for a GPU in a build without cuDNN. */
const bf16_backend *bf16_backend_here(void);

/* Return 1 if the two layers that a [shortcut] adds have one size. */
int bf16_is_one_size(layer shortcut);

#ifdef CUDNN
extern const bf16_backend bf16_cuda;
#endif
extern const bf16_backend bf16_host;

#endif
