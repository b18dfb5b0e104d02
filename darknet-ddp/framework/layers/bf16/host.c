#include "layers/bf16/host.h"

#include "activations.h"
#include "convolutional_layer.h"
#include "layers/onednn/convolution.h"
#include "utils.h"

#include <malloc.h>
#include <stdlib.h>

/*
 * The backend of a CPU: convolutions by oneDNN, all else by our loops.
 */

int bf16_emulated = 0;

#ifdef DNNL
static const char *name()
{
    return bf16_emulated           ? "float32 products of bf16 values"
           : convolution_has_amx() ? "amx_bf16"
                                   : "avx512_bf16";
}

static const char *missing()
{
    return bf16_emulated || convolution_has_bf16() ? 0 : "a CPU with avx512_bf16 or amx_bf16";
}
#else
static const char *name()
{
    return "";
}

static const char *missing()
{
    return "a build with oneDNN";
}
#endif

// Return 1 for activations whose gradient follows from their input.
static int has_activation(ACTIVATION a)
{
    return a == LINEAR || a == LEAKY || a == RELU || activation_is_v4(a);
}

static void *make_halves(size_t n)
{
    void *x = aligned_alloc(64, (n * sizeof(half) + 63) / 64 * 64);
    if (!x)
        malloc_error();
    return memset(x, 0, n * sizeof(half));
}

static void *resize_halves(void *x, size_t n)
{
    if (!x || malloc_usable_size(x) >= n * sizeof(half))
        return x;
    free(x);
    return make_halves(n);
}

static void zero_halves(void *x, size_t n)
{
    memset(x, 0, n * sizeof(half));
}

static float **float_output(layer *l)
{
    return &l->output;
}

static float **float_delta(layer *l)
{
    return &l->delta;
}

static float *make_floats(size_t n)
{
    float *x = calloc(n, sizeof(float));
    if (!x)
        malloc_error();
    return x;
}

static void free_floats(float *x)
{
    free(x);
}

static void drop(float **x)
{
    free(*x);
    *x = 0;
}

static void drop_floats(layer *l, int keep_output)
{
    if (!keep_output) {
        drop(&l->output);
        drop(&l->delta);
    }
    drop(&l->x);
    drop(&l->activation_input);
}

static void pull_floats(float *from, float *to, size_t n)
{
    memcpy(to, from, n * sizeof(float));
}

static const float *network_input(network net)
{
    return net.input;
}

static void set_passes(layer *l, void (*forward)(layer, network), void (*backward)(layer, network))
{
    l->forward = forward;
    l->backward = backward;
}

static void prepare_floats(layer *l)
{
    (void)l;
}

const bf16_backend bf16_host = {
    .name = name,
    .missing = missing,
    .has_activation = has_activation,
    .can_fuse_sizes = bf16_host_can_fuse_sizes,
    .make = make_halves,
    .resize = resize_halves,
    .free = free,
    .zero = zero_halves,
    .float_output = float_output,
    .float_delta = float_delta,
    .make_floats = make_floats,
    .drop_floats = drop_floats,
    .from_floats = bf16_host_from_floats,
    .to_floats = bf16_host_to_floats,
    .pull_floats = pull_floats,
    .free_floats = free_floats,
    .network_input = network_input,
    .set_passes = set_passes,
    .use_shared = use_shared,
    .prepare = bf16_host_prepare,
    .prepare_floats = prepare_floats,
    .free_convolution = bf16_host_free_convolution,
    .convolve = bf16_host_convolve,
    .convolve_backward_weights = bf16_host_convolve_backward_weights,
    .convolve_backward_input = bf16_host_convolve_backward_input,
    .normalize = bf16_host_normalize,
    .normalize_and_add = bf16_host_normalize_and_add,
    .recompute_output = bf16_host_recompute_output,
    .add_bias = bf16_host_add_bias,
    .normalize_backward = bf16_host_normalize_backward,
    .normalize_and_add_backward = bf16_host_normalize_and_add_backward,
    .add_bias_backward = bf16_host_add_bias_backward,
    .maxpool = bf16_host_maxpool,
    .maxpool_backward = bf16_host_maxpool_backward,
    .upsample = bf16_host_upsample,
    .upsample_backward = bf16_host_upsample_backward,
    .avgpool = bf16_host_avgpool,
    .avgpool_backward = bf16_host_avgpool_backward,
    .copy_channels = bf16_host_copy_channels,
    .shortcut = bf16_host_shortcut,
    .shortcut_backward = bf16_host_shortcut_backward,
    .multiply = bf16_host_multiply,
    .multiply_backward = bf16_host_multiply_backward,
};
