/* layers/bf16/backend.h: a table of functions that compute layers in bf16 on one kind of device.
 *
 * bf16_plan.c and bf16_layers.c know who reads whom, what is set or added, and what is fused; they
 * call these functions, and know neither CUDA nor oneDNN. All arrays of bf16 are NHWC: image, row,
 * column, channel. "The layer's x, output, delta": those of l.bf16. */
#ifndef BF16_BACKEND_H
#define BF16_BACKEND_H
#include "layers/bf16/bf16.h"

typedef struct bf16_backend {
    /* Return the name of what computes, such as "amx_bf16", for a line about a run. */
    const char *(*name)(void);
    /* Return what the device lacks for bf16, for a message; null: nothing. */
    const char *(*missing)(void);
    /* Return 1 if layers can have this activation. */
    int (*has_activation)(ACTIVATION a);

    /* ---- memory ---- */

    /* Make n values of bf16, all zero. */
    void *(*make)(size_t n);
    /* Return x with room for n values, of any content; it may have moved. Null stays null. */
    void *(*resize)(void *x, size_t n);
    void (*free)(void *x);
    void (*zero)(void *x, size_t n);
    /* Return where the layer keeps the pointer to its output, or delta, in float32. */
    float **(*output)(layer *l);
    float **(*delta)(layer *l);
    /* Make n floats, all zero, where output and delta lie. */
    float *(*make_floats)(size_t n);
    /* Free the float arrays that a layer in bf16 does without. keep_output: 1 keeps output and
     * delta. */
    void (*drop_floats)(layer *l, int keep_output);
    /* from_floats converts a float array of outer x channels x inner to bf16 as outer x inner x
     * channels. Its inverse is to_floats. Both add to what `to` holds if add is 1, and write it if
     * add is 0. */
    void (*from_floats)(size_t outer, int channels, int inner, const float *from, int add,
                        void *to);
    void (*to_floats)(size_t outer, int channels, int inner, const void *from, int add, float *to);
    /* Copy n floats from `from`, where to_floats wrote them, to `to` on the host. */
    void (*pull_floats)(float *from, float *to, size_t n);
    void (*free_floats)(float *x);
    /* Return the network's input in float32. */
    const float *(*network_input)(network net);
    /* Have the layer's passes call these functions. */
    void (*set_passes)(layer *l, void (*forward)(layer, network), void (*backward)(layer, network));
    /* Point the parameters of *l to those of l->share_layer, if that is set. */
    void (*use_shared)(layer *l);

    /* ---- convolution of a [convolutional] or [connected]; the result goes to the layer's x, if it
     * has one, else to output. The window of a [connected] is its whole input ---- */

    /* Choose how to compute the convolution in its present sizes, and set l->workspace_size to the
     * most that any of the layer's functions needs. Return 0 if it cannot be computed. */
    int (*prepare)(layer *l);
    /* Choose anew how to compute a [convolutional] that stays in float32. */
    void (*prepare_floats)(layer *l);
    /* Free what prepare made. */
    void (*free_convolution)(layer l);
    /* Compute the convolution. A CPU adds the biases of a layer without BatchNorm here. */
    void (*convolve)(layer l, network net, const void *input);
    /* Add the gradient by the weights to l.weight_updates, in float32. */
    void (*convolve_backward_weights)(layer l, network net, const void *input);
    /* Pass the gradient by the input to input_delta. set: 1 writes it there, 0 adds it. */
    void (*convolve_backward_input)(layer l, network net, int set, void *input_delta);

    /* ---- BatchNorm, biases and activation of a [convolutional] or [connected] ---- */

    /* Normalize and activate: make the layer's output from its x. In training, compute the
     * statistics first. */
    void (*normalize)(layer l, network net);
    /* Compute a fused layer and the [shortcut] behind it in one pass. The shortcut's output becomes
     * alpha*y + beta*from, activated; y is what normalize would give. from: the output of the other
     * layer that the shortcut adds. */
    void (*normalize_and_add)(layer l, network net, layer shortcut, float alpha, const void *from);
    /* Write to `output` (bf16, on the device) the output that a fused layer would have, from its x
     * and its present parameters. */
    void (*normalize_again)(layer l, void *output);
    /* Add biases to the convolution's result, if convolve has not, and activate it, for a layer
     * without BatchNorm. */
    void (*add_bias)(layer l);
    /* Turn the layer's delta, the gradient by the layer's output, into the gradient by its
     * convolution's result. Add to the updates of scales and biases. */
    void (*normalize_backward)(layer l, network net);
    /* Pass the delta of the [shortcut] back to a fused layer, times alpha, and do there what
     * normalize_backward does. With set_from 1, write the delta times the [shortcut]'s beta to
     * from_delta; with 0, add it. Parameter from_delta: delta of the other layer that the
     * [shortcut] adds; null: that layer takes none. */
    void (*normalize_and_add_backward)(layer l, network net, layer shortcut, float alpha,
                                       int set_from, void *from_delta);
    /* Turn the delta of a layer without BatchNorm into the gradient by its convolution's result.
     * Add to the updates of its biases. */
    void (*add_bias_backward)(layer l, network net);

    /* ---- layers without parameters. input, delta: output and delta of the layer before. set: 1
     * writes gradients to delta, 0 adds them ---- */

    void (*maxpool)(layer l, const void *input);
    void (*maxpool_backward)(layer l, int set, void *delta);
    void (*upsample)(layer l, const void *input);
    void (*upsample_backward)(layer l, int set, void *delta);
    void (*avgpool)(layer l, const void *input);
    void (*avgpool_backward)(layer l, int set, void *delta);
    /* For each of `cells` cells, copy (or add, if set is 0) `channels` values: from index
     * first_from of the cell's from_channels to index first_to of the cell's to_channels. */
    void (*copy_channels)(size_t cells, int channels, const void *from, int from_channels,
                          int first_from, int set, void *to, int to_channels, int first_to);
    /* Compute a [shortcut]: alpha*input + beta*from, activated; beta is the layer's. A null input
     * counts as zeros. */
    void (*shortcut)(layer l, const void *input, float alpha, const void *from);
    /* Pass a [shortcut]'s delta back: times alpha to input_delta, times beta to from_delta. Null:
     * that layer takes none. set, set_from: 1 writes it there, 0 adds it. */
    void (*shortcut_backward)(layer l, float alpha, int set, void *input_delta, int set_from,
                              void *from_delta);
    /* Compute a [scale_channels] or [sam]: x times scales, activated. x: output of layer l.index.
     * scales: output of the layer before, l.w x l.h x l.c values an image. Each serves a value, a
     * channel or a cell of x. */
    void (*multiply)(layer l, const void *x, const void *scales);
    /* Pass the delta of a [scale_channels] or [sam] back to x_delta, then to scales_delta. Null:
     * that layer takes none. set_x, set_scales: 1 writes the gradient there, 0 adds it. */
    void (*multiply_backward)(layer l, const void *x, const void *scales, int set_x, void *x_delta,
                              int set_scales, void *scales_delta);
} bf16_backend;

/* Return the backend of the device that networks are made for: gpu_index. Null: this build has none
 * for it. */
const bf16_backend *bf16_backend_here(void);

#ifdef CUDNN
extern const bf16_backend bf16_cuda;
#endif
extern const bf16_backend bf16_host;

#endif
