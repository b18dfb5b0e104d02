/* Writes layers as nodes of ONNX: pooling, normalization, activations, [implicit], layers that
 * combine the outputs of others, and layers that move values, such as [upsample] and [crop]. */
#include "onnx/layer_writer.h"

#include "shortcut_layer.h"

#include <stdlib.h>
#include <string.h>

/* ---- pooling ---- */

/* The largest of channels k, k + out_c, k + 2 out_c, ... */
static ddp_onnx_value largest_channels(ddp_layer_writer *w, const layer *l)
{
    const float least = -3e38F;
    int of_each = (l->c + l->out_c - 1) / l->out_c;
    const int64_t pads[8] = {0, 0, 0, 0, 0, of_each * l->out_c - l->c, 0, 0}, axis = 1;
    const int64_t pieces[] = {of_each, l->out_c, (int64_t)l->h * l->w};
    ddp_onnx_value v = ddp_onnx_input_as_image(w, l);

    if (pads[5])
        v = ddp_onnx_pad(w, v, pads, least);
    v = ddp_onnx_reshape(w, v, pieces, 3);
    if (w->options.opset < 18) {
        ddp_onnx_attribute_ints(w->g, "axes", &axis, 1);
        v = ddp_onnx_node1(w->g, "ReduceMax", v);
    } else {
        v = ddp_onnx_node2(w->g, "ReduceMax", v, ddp_onnx_ints(w->g, &axis, 1));
    }
    return ddp_onnx_reshape(w, v, (const int64_t[]){l->out_c, l->out_h, l->out_w}, 3);
}

/* l->pad is what is added to both sides together; the first side has the smaller half. */
ddp_status ddp_onnx_maxpool(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                            ddp_error *err)
{
    const int64_t before = l->pad / 2, after = l->pad - before;
    ddp_onnx_value v;

    (void)err;
    if (l->depth) {
        *out = largest_channels(w, l);
        return DDP_OK;
    }
    v = ddp_onnx_input_as_image(w, l);
    ddp_onnx_attribute_ints(w->g, "kernel_shape", (const int64_t[]){l->size, l->size}, 2);
    ddp_onnx_attribute_ints(w->g, "strides", (const int64_t[]){l->stride_y, l->stride_x}, 2);
    ddp_onnx_attribute_ints(w->g, "pads", (const int64_t[]){before, before, after, after}, 4);
    *out = ddp_onnx_node1(w->g, "MaxPool", v);
    return DDP_OK;
}

ddp_status ddp_onnx_avgpool(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                            ddp_error *err)
{
    (void)err;
    *out = ddp_onnx_node1(w->g, "GlobalAveragePool", ddp_onnx_input_as_image(w, l));
    return DDP_OK;
}

/* ---- joins ---- */

/* A layer [implicit] gives one value for all pictures of a batch. */
static ddp_onnx_value for_each_picture(ddp_layer_writer *w, ddp_onnx_tensor t)
{
    const int64_t zero = 0, one = 1;
    ddp_onnx_value batch;

    if (!w->options.dynamic_batch)
        return t.value;
    batch = ddp_onnx_node1(w->g, "Shape", w->input.value);
    batch = ddp_onnx_node3(w->g, "Slice", batch, ddp_onnx_ints(w->g, &zero, 1),
                           ddp_onnx_ints(w->g, &one, 1));
    batch = ddp_onnx_concat(
        w, (const ddp_onnx_value[]){batch, ddp_onnx_ints(w->g, (const int64_t[]){1, 1, 1}, 3)}, 2,
        0);
    return ddp_onnx_node2(w->g, "Expand", t.value, batch);
}

ddp_status ddp_onnx_route(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    ddp_onnx_value *values = calloc((size_t)l->n, sizeof *values);

    if (!values)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for layer %d", w->index);
    for (int i = 0; i < l->n; i++) {
        ddp_onnx_tensor t = ddp_onnx_layer_input(w, i);
        int size = t.c / l->groups;

        if (w->net->layers[l->input_layers[i]].type == IMPLICIT)
            t.value = for_each_picture(w, t);
        if (l->groups > 1)
            t.value = ddp_onnx_slice(w, t.value, 1, (int64_t)l->group_id * size,
                                     (int64_t)(l->group_id + 1) * size, 1);
        if (!l->out_h && t.h) /* maps of different sizes, one behind the other */
            t.value = ddp_onnx_reshape(w, t.value, (const int64_t[]){(int64_t)size * t.h * t.w}, 1);
        values[i] = t.value;
    }
    *out = ddp_onnx_concat(w, values, (size_t)l->n, 1);
    free(values);
    return DDP_OK;
}

/* Return the first c channels of t; zeros stand for those that it lacks. */
static ddp_onnx_value common_channels(ddp_layer_writer *w, ddp_onnx_tensor t, int c)
{
    const int64_t pads[8] = {0, 0, 0, 0, 0, c - t.c, 0, 0};

    if (t.c > c)
        return ddp_onnx_slice(w, t.value, 1, 0, c, 1);
    return t.c < c ? ddp_onnx_pad(w, t.value, pads, 0) : t.value;
}

/* Return v times the weights of source s, a value or one for each channel. */
static ddp_onnx_value blended(ddp_layer_writer *w, const layer *l, int s, ddp_onnx_value v)
{
    int64_t n = l->nweights / (l->n + 1);

    if (!l->nweights)
        return v;
    return ddp_onnx_node2(
        w->g, "Mul", v,
        ddp_onnx_floats(w->g, "blend", l->blend + s * n, (const int64_t[]){n, 1, 1}, 3));
}

/* [shortcut] of several layers, or with weights. */
static ddp_onnx_value sum_of_sources(ddp_layer_writer *w, const layer *l)
{
    ddp_onnx_value sum = 0;

    if (l->nweights)
        blend_weights(*l);
    for (int s = 0; s <= l->n; s++) {
        ddp_onnx_value v = common_channels(w, ddp_onnx_layer_input(w, s), l->out_c);

        v = blended(w, l, s, v);
        sum = sum ? ddp_onnx_node2(w->g, "Add", sum, v) : v;
    }
    return sum;
}

/* [shortcut] of one layer, whose map may be larger: then every stride-th value is added. */
static ddp_onnx_value sum_of_two(ddp_layer_writer *w, const layer *l)
{
    ddp_onnx_tensor own = ddp_onnx_layer_input(w, 0), from = ddp_onnx_layer_input(w, 1);
    int stride = from.w / l->out_w;

    if (stride > 1) {
        from.value = ddp_onnx_slice(w, from.value, 2, 0, (int64_t)stride * l->out_h, stride);
        from.value = ddp_onnx_slice(w, from.value, 3, 0, (int64_t)stride * l->out_w, stride);
    }
    from.value = common_channels(w, from, l->out_c);
    return ddp_onnx_node2(w->g, "Add", ddp_onnx_scaled(w, own.value, l->alpha),
                          ddp_onnx_scaled(w, from.value, l->beta));
}

ddp_status ddp_onnx_shortcut(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                             ddp_error *err)
{
    int same = l->w == l->out_w && l->h == l->out_h;

    if (l->w < l->out_w)
        return ddp_onnx_refuse(w, err, "from= a layer with a smaller map is not written to ONNX");
    if (!l->input_layers && l->alpha != 1 && (!same || l->c < l->out_c))
        return ddp_onnx_refuse(w, err,
                               "alpha= with a layer of another size is not written to ONNX");
    *out = l->input_layers ? sum_of_sources(w, l) : sum_of_two(w, l);
    return ddp_onnx_activation(w, *out, l->activation, out, err);
}

ddp_status ddp_onnx_scale_channels(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                                   ddp_error *err)
{
    ddp_onnx_tensor scales = ddp_onnx_layer_input(w, 0), from = ddp_onnx_layer_input(w, 1);

    if (!l->spatial && (scales.c != from.c || scales.h != 1))
        scales.value = ddp_onnx_reshape(w, scales.value, (const int64_t[]){from.c, 1, 1}, 3);
    *out = ddp_onnx_node2(w->g, "Mul", from.value, scales.value);
    return ddp_onnx_activation(w, *out, l->activation, out, err);
}

ddp_status ddp_onnx_sam(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    *out = ddp_onnx_node2(w->g, "Mul", ddp_onnx_layer_input(w, 0).value,
                          ddp_onnx_layer_input(w, 1).value);
    return ddp_onnx_activation(w, *out, l->activation, out, err);
}

ddp_status ddp_onnx_implicit(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                             ddp_error *err)
{
    const int64_t dims[] = {1, l->out_c, l->out_h, l->out_w};

    (void)err;
    *out = ddp_onnx_weights(w->g, l->weights, dims, 4);
    return DDP_OK;
}

/* ---- places ---- */

ddp_status ddp_onnx_upsample(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                             ddp_error *err)
{
    const float s = (float)l->stride, scales[] = {1, 1, s, s};
    const int64_t four = 4, window[] = {l->stride, l->stride};
    ddp_onnx_value v = ddp_onnx_input_as_image(w, l);

    if (l->reverse) { /* the sum of a window's values */
        if (l->w % l->stride || l->h % l->stride)
            return ddp_onnx_refuse(w, err, "stride= that does not divide the map");
        ddp_onnx_attribute_ints(w->g, "kernel_shape", window, 2);
        ddp_onnx_attribute_ints(w->g, "strides", window, 2);
        *out = ddp_onnx_scaled(w, ddp_onnx_node1(w->g, "AveragePool", v), s * s * l->scale);
        return DDP_OK;
    }
    ddp_onnx_attribute_text(w->g, "mode", "nearest");
    ddp_onnx_attribute_text(w->g, "nearest_mode", "floor");
    ddp_onnx_attribute_text(w->g, "coordinate_transformation_mode", "asymmetric");
    v = ddp_onnx_node3(w->g, "Resize", v, 0, ddp_onnx_floats(w->g, "scales", scales, &four, 1));
    *out = ddp_onnx_scaled(w, v, l->scale);
    return DDP_OK;
}

/* Return v as blas.c:reorg_cpu moves it. Without reverse, it reads the input, c x h x w, as if it
 * were c / s / s x h s x w s. */
static ddp_onnx_value reorganized(ddp_layer_writer *w, const layer *l, ddp_onnx_value v)
{
    const int64_t s = l->stride, c = l->c / (s * s);
    const int64_t tiles[] = {s, s, c, l->h, l->w}, map[] = {c, l->h, s, l->w, s};

    if (l->reverse) {
        v = ddp_onnx_reshape(w, v, tiles, 5);
        return ddp_onnx_transpose(w, v, (const int64_t[]){0, 3, 4, 1, 5, 2}, 6);
    }
    v = ddp_onnx_reshape(w, v, map, 5);
    return ddp_onnx_transpose(w, v, (const int64_t[]){0, 3, 5, 1, 2, 4}, 6);
}

ddp_status ddp_onnx_reorg(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    const int64_t cells = (int64_t)l->w * l->h;
    ddp_onnx_value v;

    (void)err;
    if (l->extra) { /* zeros behind the values of each picture */
        v = ddp_onnx_input_as_rows(w, l);
        *out = ddp_onnx_node3(w->g, "Pad", v,
                              ddp_onnx_ints(w->g, (const int64_t[]){0, 0, 0, l->extra}, 4),
                              ddp_onnx_scalar(w->g, 0));
        return DDP_OK;
    }
    v = ddp_onnx_input_as_image(w, l);
    if (l->flatten) {
        v = ddp_onnx_reshape(
            w, v, l->reverse ? (const int64_t[]){cells, l->c} : (const int64_t[]){l->c, cells}, 2);
        v = ddp_onnx_transpose(w, v, (const int64_t[]){0, 2, 1}, 3);
    } else {
        v = reorganized(w, l, v);
    }
    *out = ddp_onnx_reshape(w, v, (const int64_t[]){l->out_c, l->out_h, l->out_w}, 3);
    return DDP_OK;
}

ddp_status ddp_onnx_crop(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    int top = (l->h - l->out_h) / 2, left = (l->w - l->out_w) / 2;
    ddp_onnx_value v = ddp_onnx_input_as_image(w, l);

    (void)err;
    v = ddp_onnx_slice(w, v, 2, top, top + l->out_h, 1);
    v = ddp_onnx_slice(w, v, 3, left, left + l->out_w, 1);
    if (!l->noadjust)
        v = ddp_onnx_node2(w->g, "Add", ddp_onnx_scaled(w, v, 2), ddp_onnx_scalar(w->g, -1));
    *out = v;
    return DDP_OK;
}

/* ---- over channels ---- */

/* Return which squares go into the norm of which channel, [norm][square], as
 * normalization_layer.c:forward_normalization_layer adds and takes them away. To be freed; NULL: no
 * memory. */
static float *norm_window(const layer *l)
{
    float *window = calloc((size_t)l->c * (size_t)l->c, sizeof *window), *row = window;

    for (int k = 0; window && k < l->size / 2 && k < l->c; k++)
        row[k] = l->alpha;
    for (int k = 1; window && k < l->c; k++) {
        int gone = k - (l->size - 1) / 2 - 1, next = k + l->size / 2;

        memcpy(row + l->c, row, (size_t)l->c * sizeof *row);
        row += l->c;
        if (gone >= 0)
            row[gone] -= l->alpha;
        if (next < l->c)
            row[next] += l->alpha;
    }
    return window;
}

ddp_status ddp_onnx_normalization(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                                  ddp_error *err)
{
    float *window = norm_window(l);
    ddp_onnx_value v = ddp_onnx_input_as_image(w, l), norms;

    if (!window)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for layer %d", w->index);
    norms = ddp_onnx_floats(w->g, "window", window, (const int64_t[]){l->c, l->c, 1, 1}, 4);
    free(window);
    norms = ddp_onnx_node2(w->g, "Conv", ddp_onnx_node2(w->g, "Mul", v, v), norms);
    norms = ddp_onnx_node2(w->g, "Add", norms, ddp_onnx_scalar(w->g, l->kappa));
    norms = ddp_onnx_node2(w->g, "Pow", norms, ddp_onnx_scalar(w->g, -l->beta));
    *out = ddp_onnx_node2(w->g, "Mul", v, norms);
    return DDP_OK;
}

ddp_status ddp_onnx_l2norm(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    ddp_onnx_value v = ddp_onnx_input_as_image(w, l);

    (void)err;
    ddp_onnx_attribute_int(w->g, "axis", 1);
    ddp_onnx_attribute_int(w->g, "p", 2);
    *out = ddp_onnx_node1(w->g, "LpNormalization", v);
    return DDP_OK;
}

ddp_status ddp_onnx_active(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    return ddp_onnx_activation(w, ddp_onnx_layer_input(w, 0).value, l->activation, out, err);
}

ddp_status ddp_onnx_logistic(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                             ddp_error *err)
{
    (void)l;
    return ddp_onnx_activation(w, ddp_onnx_layer_input(w, 0).value, LOGISTIC, out, err);
}
