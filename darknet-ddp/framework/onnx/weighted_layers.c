/* Writes [batchnorm], and layers that multiply by weights, such as [convolutional], as nodes of
 * ONNX, with their BatchNorm and activation. */
#include "onnx/layer_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* batchnorm_layer.h:channel_deviation */
static const float epsilon = .00001F;

static ddp_onnx_value channels(ddp_layer_writer *w, const char *what, const float *values, int n)
{
    return ddp_onnx_floats(w->g, what, values, (const int64_t[]){n}, 1);
}

static ddp_onnx_value normalized(ddp_layer_writer *w, ddp_onnx_value v, const layer *l, int n)
{
    const ddp_onnx_value inputs[] = {
        v, channels(w, "scales", l->scales, n), channels(w, "biases", l->biases, n),
        channels(w, "mean", l->rolling_mean, n), channels(w, "variance", l->rolling_variance, n)};

    ddp_onnx_attribute_float(w->g, "epsilon", epsilon);
    return ddp_onnx_node(w->g, "BatchNormalization", inputs, 5);
}

/* The constants of a layer. */
typedef struct constants {
    ddp_onnx_value weights;
    ddp_onnx_value biases; /* 0: BatchNormalization, a node behind the layer's, has them */
} constants;

/* Multiply BatchNorm into weights [outer][n][inner] and biases [n] of n filters. */
static void fold(const layer *l, float *weights, float *biases, size_t outer, size_t n,
                 size_t inner)
{
    for (size_t k = 0; k < n; k++) {
        float scale = l->scales[k] / sqrtf(l->rolling_variance[k] + epsilon);

        biases[k] -= l->rolling_mean[k] * scale;
        for (size_t o = 0; o < outer; o++)
            for (size_t i = 0; i < inner; i++)
                weights[(o * n + k) * inner + i] *= scale;
    }
}

static int keeps_bn(const ddp_layer_writer *w, const layer *l)
{
    return l->batch_normalize && w->options.keep_bn;
}

/* Add the constants of a layer whose weights have dims[0..count), of which dims[at] are filters. */
static ddp_status add_constants(ddp_layer_writer *w, const layer *l, const int64_t *dims,
                                size_t count, size_t at, constants *out, ddp_error *err)
{
    size_t outer = 1, n = (size_t)dims[at], inner = 1;
    float *weights, *biases;

    for (size_t i = 0; i < count; i++) {
        outer *= i < at ? (size_t)dims[i] : 1;
        inner *= i > at ? (size_t)dims[i] : 1;
    }
    weights = malloc(outer * n * inner * sizeof *weights);
    biases = malloc(n * sizeof *biases);
    if (weights && biases) {
        memcpy(weights, l->weights, outer * n * inner * sizeof *weights);
        memcpy(biases, l->biases, n * sizeof *biases);
        if (l->batch_normalize && !keeps_bn(w, l))
            fold(l, weights, biases, outer, n, inner);
        out->weights = ddp_onnx_weights(w->g, weights, dims, count);
        out->biases = keeps_bn(w, l) ? 0 : channels(w, "biases", biases, (int)n);
    }
    free(weights);
    free(biases);
    return weights && biases
               ? DDP_OK
               : ddp_fail(err, DDP_ERR_NOMEM, "no memory for the weights of layer %d", w->index);
}

/* Write operator op, whose attributes are set, and what follows it in the layer. */
static ddp_status apply(ddp_layer_writer *w, const layer *l, const char *op, ddp_onnx_value input,
                        constants c, ddp_onnx_value *out, ddp_error *err)
{
    *out = ddp_onnx_node(w->g, op, (const ddp_onnx_value[]){input, c.weights, c.biases},
                         c.biases ? 3 : 2);
    if (keeps_bn(w, l))
        *out = normalized(w, *out, l, l->out_c);
    return ddp_onnx_activation(w, *out, l->activation, out, err);
}

static void set_window(ddp_layer_writer *w, int size, int stride_y, int stride_x, int pad,
                       int dilation, int groups)
{
    ddp_onnx_attribute_ints(w->g, "kernel_shape", (const int64_t[]){size, size}, 2);
    ddp_onnx_attribute_ints(w->g, "strides", (const int64_t[]){stride_y, stride_x}, 2);
    ddp_onnx_attribute_ints(w->g, "pads", (const int64_t[]){pad, pad, pad, pad}, 4);
    ddp_onnx_attribute_ints(w->g, "dilations", (const int64_t[]){dilation, dilation}, 2);
    ddp_onnx_attribute_int(w->g, "group", groups);
}

ddp_status ddp_onnx_convolutional(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                                  ddp_error *err)
{
    const layer *owner = l->share_layer ? l->share_layer : l;
    const int64_t dims[] = {l->n, l->c / l->groups, l->size, l->size};
    layer whole = *l;
    ddp_onnx_value input;
    constants c;

    if (l->binary || l->xnor)
        return ddp_onnx_refuse(
            w, err, l->xnor ? "xnor=1 is not written to ONNX" : "binary=1 is not written to ONNX");
    whole.weights = owner->weights;
    whole.biases = owner->biases;
    whole.scales = owner->scales;
    whole.rolling_mean = owner->rolling_mean;
    whole.rolling_variance = owner->rolling_variance;
    if (add_constants(w, &whole, dims, 4, 0, &c, err))
        return err->code;
    input = ddp_onnx_input_as_image(w, l);
    set_window(w, l->size, l->stride_y, l->stride_x, l->pad, l->dilation, l->groups);
    return apply(w, &whole, "Conv", input, c, out, err);
}

ddp_status ddp_onnx_deconvolutional(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                                    ddp_error *err)
{
    const int64_t dims[] = {l->c, l->n, l->size, l->size};
    ddp_onnx_value input;
    constants c;

    if (add_constants(w, l, dims, 4, 1, &c, err))
        return err->code;
    input = ddp_onnx_input_as_image(w, l);
    set_window(w, l->size, l->stride, l->stride, l->pad, 1, 1);
    return apply(w, l, "ConvTranspose", input, c, out, err);
}

ddp_status ddp_onnx_connected(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                              ddp_error *err)
{
    const int64_t dims[] = {l->outputs, l->inputs};
    ddp_onnx_value input;
    constants c;

    if (add_constants(w, l, dims, 2, 0, &c, err))
        return err->code;
    input = ddp_onnx_input_as_rows(w, l);
    ddp_onnx_attribute_int(w->g, "transB", 1);
    if (apply(w, l, "Gemm", input, c, out, err))
        return err->code;
    *out = ddp_onnx_reshape(w, *out, (const int64_t[]){l->outputs, 1, 1}, 3);
    return DDP_OK;
}

ddp_status ddp_onnx_batchnorm(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                              ddp_error *err)
{
    (void)err;
    *out = normalized(w, ddp_onnx_input_as_image(w, l), l, l->out_c);
    return DDP_OK;
}

/* ---- [local]: each place of the output has weights of its own ---- */

/* Return, for each place of the output and each of its weights, which value of the padded input it
 * multiplies. To be freed; NULL: no memory. */
static int64_t *local_places(const layer *l)
{
    int inner = l->c * l->size * l->size, wide = l->w + 2 * l->pad, high = l->h + 2 * l->pad;
    int64_t *places = malloc((size_t)inner * (size_t)(l->out_w * l->out_h) * sizeof *places);
    int64_t *at = places;

    for (int y = 0; places && y < l->out_h; y++)
        for (int x = 0; x < l->out_w; x++)
            for (int k = 0; k < inner; k++) {
                int column = k % l->size, row = k / l->size % l->size;
                int channel = k / (l->size * l->size);

                *at++ = x * l->stride + column + wide * (y * l->stride + row + high * channel);
            }
    return places;
}

ddp_status ddp_onnx_local(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    int cells = l->out_w * l->out_h, inner = l->c * l->size * l->size;
    int64_t *places = local_places(l);
    const int64_t pads[8] = {0, 0, l->pad, l->pad, 0, 0, l->pad, l->pad};
    const int64_t padded = (int64_t)l->c * (l->w + 2 * l->pad) * (l->h + 2 * l->pad);
    const int64_t dims[] = {cells, l->n, inner}, image[] = {l->n, l->out_h, l->out_w};
    ddp_onnx_value v = ddp_onnx_pad(w, ddp_onnx_input_as_image(w, l), pads, 0), index, weights;

    if (!places)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the weights of layer %d", w->index);
    index = ddp_onnx_ints(w->g, places, (size_t)cells * (size_t)inner);
    free(places);
    weights = ddp_onnx_weights(w->g, l->weights, dims, 3);
    v = ddp_onnx_reshape(w, v, &padded, 1);
    ddp_onnx_attribute_int(w->g, "axis", 1);
    v = ddp_onnx_node2(w->g, "Gather", v, index);
    v = ddp_onnx_reshape(w, v, (const int64_t[]){cells, inner}, 2);
    v = ddp_onnx_transpose(w, v, (const int64_t[]){1, 2, 0}, 3);
    v = ddp_onnx_node2(w->g, "MatMul", weights, v); /* place, filter, picture */
    v = ddp_onnx_transpose(w, v, (const int64_t[]){2, 1, 0}, 3);
    v = ddp_onnx_reshape(w, v, image, 3);
    v = ddp_onnx_node2(w->g, "Add", v, ddp_onnx_floats(w->g, "biases", l->biases, image, 3));
    return ddp_onnx_activation(w, v, l->activation, out, err);
}
