#include "onnx/layer_writer.h"

#include "layers/graph.h"

#include <string.h>

ddp_onnx_tensor ddp_onnx_layer_input(const ddp_layer_writer *w, int k)
{
    int source = layer_source(w->net, w->index, k);

    return source == NETWORK_INPUT ? w->input : w->outputs[source];
}

int ddp_onnx_is_letter_boxed(const network *net)
{
    return !net->rules.forks || net->rules.letter_box;
}

ddp_onnx_value ddp_onnx_input_as_image(ddp_layer_writer *w, const layer *l)
{
    ddp_onnx_tensor t = ddp_onnx_layer_input(w, 0);

    if (t.c == l->c && t.h == l->h && t.w == l->w)
        return t.value;
    return ddp_onnx_reshape(w, t.value, (const int64_t[]){l->c, l->h, l->w}, 3);
}

ddp_onnx_value ddp_onnx_input_as_rows(ddp_layer_writer *w, const layer *l)
{
    ddp_onnx_tensor t = ddp_onnx_layer_input(w, 0);

    return t.h ? ddp_onnx_reshape(w, t.value, (const int64_t[]){l->inputs}, 1) : t.value;
}

ddp_onnx_value ddp_onnx_reshape(ddp_layer_writer *w, ddp_onnx_value v, const int64_t *dims,
                                size_t count)
{
    int64_t all[8] = {0}; /* 0: the batch, as it is */

    memcpy(all + 1, dims, count * sizeof *dims);
    return ddp_onnx_node2(w->g, "Reshape", v, ddp_onnx_ints(w->g, all, count + 1));
}

ddp_onnx_value ddp_onnx_transpose(ddp_layer_writer *w, ddp_onnx_value v, const int64_t *order,
                                  size_t count)
{
    ddp_onnx_attribute_ints(w->g, "perm", order, count);
    return ddp_onnx_node1(w->g, "Transpose", v);
}

ddp_onnx_value ddp_onnx_slice(ddp_layer_writer *w, ddp_onnx_value v, int axis, int64_t begin,
                              int64_t end, int64_t step)
{
    const int64_t at = axis;
    const ddp_onnx_value inputs[] = {v, ddp_onnx_ints(w->g, &begin, 1),
                                     ddp_onnx_ints(w->g, &end, 1), ddp_onnx_ints(w->g, &at, 1),
                                     step == 1 ? 0 : ddp_onnx_ints(w->g, &step, 1)};

    return ddp_onnx_node(w->g, "Slice", inputs, step == 1 ? 4 : 5);
}

ddp_onnx_value ddp_onnx_concat(ddp_layer_writer *w, const ddp_onnx_value *values, size_t count,
                               int axis)
{
    if (count == 1)
        return values[0];
    ddp_onnx_attribute_int(w->g, "axis", axis);
    return ddp_onnx_node(w->g, "Concat", values, count);
}

ddp_onnx_value ddp_onnx_pad(ddp_layer_writer *w, ddp_onnx_value v, const int64_t pads[8],
                            float value)
{
    return ddp_onnx_node3(w->g, "Pad", v, ddp_onnx_ints(w->g, pads, 8),
                          ddp_onnx_scalar(w->g, value));
}

ddp_onnx_value ddp_onnx_scaled(ddp_layer_writer *w, ddp_onnx_value v, float factor)
{
    return factor == 1 ? v : ddp_onnx_node2(w->g, "Mul", v, ddp_onnx_scalar(w->g, factor));
}

ddp_status ddp_onnx_refuse(const ddp_layer_writer *w, ddp_error *err, const char *what)
{
    return ddp_fail(err, DDP_ERR_FORMAT, "layer %d, [%s]: %s", w->index,
                    get_layer_string(w->net->layers[w->index].type), what);
}

/* ---- activations ---- */

static ddp_onnx_value clip(ddp_layer_writer *w, ddp_onnx_value v, float low, float high)
{
    return ddp_onnx_node3(w->g, "Clip", v, ddp_onnx_scalar(w->g, low), ddp_onnx_scalar(w->g, high));
}

/* Return slope * v + knee * clip(v, low, high). */
static ddp_onnx_value bent(ddp_layer_writer *w, ddp_onnx_value v, float slope, float knee,
                           float low, float high)
{
    return ddp_onnx_node2(w->g, "Add", ddp_onnx_scaled(w, v, slope),
                          ddp_onnx_scaled(w, clip(w, v, low, high), knee));
}

/* Return v * min(max(slope * v + middle, 0), 1). */
static ddp_onnx_value gated(ddp_layer_writer *w, ddp_onnx_value v, float slope, float middle)
{
    ddp_onnx_attribute_float(w->g, "alpha", slope);
    ddp_onnx_attribute_float(w->g, "beta", middle);
    return ddp_onnx_node2(w->g, "Mul", v, ddp_onnx_node1(w->g, "HardSigmoid", v));
}

static ddp_onnx_value leaky(ddp_layer_writer *w, ddp_onnx_value v, float slope)
{
    ddp_onnx_attribute_float(w->g, "alpha", slope);
    return ddp_onnx_node1(w->g, "LeakyRelu", v);
}

/* Operator Mish came with opset 18. */
static ddp_onnx_value mish(ddp_layer_writer *w, ddp_onnx_value v)
{
    ddp_onnx_value soft;

    if (w->options.opset >= 18)
        return ddp_onnx_node1(w->g, "Mish", v);
    soft = ddp_onnx_node1(w->g, "Softplus", v);
    return ddp_onnx_node2(w->g, "Mul", v, ddp_onnx_node1(w->g, "Tanh", soft));
}

static ddp_onnx_value selu(ddp_layer_writer *w, ddp_onnx_value v)
{
    ddp_onnx_attribute_float(w->g, "alpha", 1.6732F);
    ddp_onnx_attribute_float(w->g, "gamma", 1.0507F);
    return ddp_onnx_node1(w->g, "Selu", v);
}

/* Return an activation of straight pieces, 0 if a is another. */
static ddp_onnx_value straight(ddp_layer_writer *w, ddp_onnx_value v, ACTIVATION a)
{
    const float endless = 3e38F;

    switch (a) {
    case LINEAR:
        return v;
    case LEAKY:
        return leaky(w, v, .1F);
    case RELIE:
        return leaky(w, v, .01F);
    case RELU:
        return ddp_onnx_node1(w->g, "Relu", v);
    case RELU6:
        return clip(w, v, 0, 6);
    case HARDTAN:
        return clip(w, v, -1, 1);
    case RAMP:
        return bent(w, v, .1F, 1, 0, endless);
    case LHTAN:
        return bent(w, v, .001F, .999F, 0, 1);
    case PLSE:
        return ddp_onnx_node2(w->g, "Add", bent(w, v, .01F, .115F, -4, 4),
                              ddp_onnx_scalar(w->g, .5F));
    default:
        return 0;
    }
}

/* Return an activation that is curved, 0 if a is another. */
static ddp_onnx_value curved(ddp_layer_writer *w, ddp_onnx_value v, ACTIVATION a)
{
    switch (a) {
    case LOGISTIC:
        return ddp_onnx_node1(w->g, "Sigmoid", v);
    case TANH:
        return ddp_onnx_node1(w->g, "Tanh", v);
    case LOGGY:
        return ddp_onnx_node1(w->g, "Tanh", ddp_onnx_scaled(w, v, .5F));
    case ELU:
        return ddp_onnx_node1(w->g, "Elu", v);
    case SELU:
        return selu(w, v);
    case MISH:
        return mish(w, v);
    case SWISH:
        return ddp_onnx_node2(w->g, "Mul", v, ddp_onnx_node1(w->g, "Sigmoid", v));
    case HARD_MISH:
        return gated(w, v, .5F, 1);
    case HARDSWISH:
        return gated(w, v, 1 / 6.F, .5F);
    default:
        return 0;
    }
}

ddp_status ddp_onnx_activation(ddp_layer_writer *w, ddp_onnx_value v, ACTIVATION a,
                               ddp_onnx_value *out, ddp_error *err)
{
    char what[80];

    *out = straight(w, v, a);
    if (!*out)
        *out = curved(w, v, a);
    if (*out)
        return DDP_OK;
    (void)snprintf(what, sizeof what, "activation=%s is not written to ONNX",
                   get_activation_string(a));
    return ddp_onnx_refuse(w, err, what);
}
