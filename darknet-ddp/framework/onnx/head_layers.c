/* Writes [softmax], [yolo], [region], [detection] and [iseg] as nodes of ONNX. */
#include "onnx/layer_writer.h"

#include <stdlib.h>

/* ---- softmax ---- */

static ddp_onnx_value softmax_over(ddp_layer_writer *w, ddp_onnx_value v, int axis)
{
    ddp_onnx_attribute_int(w->g, "axis", axis);
    return ddp_onnx_node1(w->g, "Softmax", v);
}

/* Set *out to a softmax of each group of a tree's classes, which lie along `axis` of v. */
static ddp_status softmax_of_tree(ddp_layer_writer *w, ddp_onnx_value v, int axis, const tree *t,
                                  ddp_onnx_value *out, ddp_error *err)
{
    ddp_onnx_value *groups = calloc((size_t)t->groups, sizeof *groups);
    int begin = 0;

    if (!groups)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for layer %d", w->index);
    for (int i = 0; i < t->groups; i++) {
        groups[i] = ddp_onnx_slice(w, v, axis, begin, begin + t->group_size[i], 1);
        groups[i] = softmax_over(w, groups[i], axis);
        begin += t->group_size[i];
    }
    *out = ddp_onnx_concat(w, groups, (size_t)t->groups, axis);
    free(groups);
    return DDP_OK;
}

ddp_status ddp_onnx_softmax(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                            ddp_error *err)
{
    const int64_t inputs = l->inputs, cells = (int64_t)l->w * l->h;
    const int64_t groups[] = {l->groups, l->inputs / l->groups};
    ddp_onnx_value v = ddp_onnx_input_as_rows(w, l);

    if (l->softmax_tree)
        return softmax_of_tree(w, ddp_onnx_scaled(w, v, 1 / l->temperature), 1, l->softmax_tree,
                               out, err);
    if (l->spatial) {
        v = ddp_onnx_reshape(w, v, (const int64_t[]){l->c, cells}, 2);
        v = softmax_over(w, v, 1);
    } else {
        v = ddp_onnx_reshape(w, ddp_onnx_scaled(w, v, 1 / l->temperature), groups, 2);
        v = softmax_over(w, v, 2);
    }
    *out = ddp_onnx_reshape(w, v, &inputs, 1);
    return DDP_OK;
}

/* ---- what heads give ---- */

/* A head's values: anchors x values of each x cells. */
static ddp_onnx_value by_anchor(ddp_layer_writer *w, const layer *l, ddp_onnx_value v)
{
    return ddp_onnx_reshape(
        w, v, (const int64_t[]){l->n, l->outputs / l->n / (l->w * l->h), (int64_t)l->w * l->h}, 3);
}

static ddp_onnx_value part_of(ddp_layer_writer *w, ddp_onnx_value v, int begin, int count)
{
    return ddp_onnx_slice(w, v, 2, begin, begin + count, 1);
}

static ddp_onnx_value sigmoid(ddp_layer_writer *w, ddp_onnx_value v)
{
    return ddp_onnx_node1(w->g, "Sigmoid", v);
}

static ddp_onnx_value as_map(ddp_layer_writer *w, const layer *l, ddp_onnx_value v)
{
    return ddp_onnx_reshape(w, v, (const int64_t[]){l->outputs / (l->w * l->h), l->h, l->w}, 3);
}

/* With scale_x_y, s, the middle of a box is x * s - (s - 1) / 2. */
ddp_status ddp_onnx_yolo(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    float s = l->yolo.v4 ? l->yolo.scale_x_y : 1;
    ddp_onnx_value v = by_anchor(w, l, ddp_onnx_layer_input(w, 0).value);
    ddp_onnx_value parts[] = {part_of(w, v, 0, 2), part_of(w, v, 2, 2),
                              part_of(w, v, 4, 1 + l->classes)};

    (void)err;
    if (!l->yolo.new_coords) {
        parts[0] = sigmoid(w, parts[0]);
        parts[2] = sigmoid(w, parts[2]);
    }
    if (s != 1)
        parts[0] = ddp_onnx_node2(w->g, "Sub", ddp_onnx_scaled(w, parts[0], s),
                                  ddp_onnx_scalar(w->g, (s - 1) / 2));
    *out = as_map(w, l, ddp_onnx_concat(w, parts, 3, 2));
    return DDP_OK;
}

ddp_status ddp_onnx_region(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    ddp_onnx_value v = by_anchor(w, l, ddp_onnx_layer_input(w, 0).value), parts[5];
    int count = 0, first = l->coords + 1; /* of the classes */

    parts[count++] = sigmoid(w, part_of(w, v, 0, 2));
    parts[count++] = part_of(w, v, 2, 2);
    if (l->coords > 4)
        parts[count++] = sigmoid(w, part_of(w, v, 4, l->coords - 4));
    if (l->background && l->softmax && !l->softmax_tree)
        first--; /* the background is one of the classes of the softmax */
    else if (l->background)
        parts[count++] = part_of(w, v, l->coords, 1);
    else
        parts[count++] = sigmoid(w, part_of(w, v, l->coords, 1));
    v = part_of(w, v, first, l->coords + 1 + l->classes - first);
    if (l->softmax_tree) {
        if (softmax_of_tree(w, v, 2, l->softmax_tree, &parts[count], err))
            return err->code;
    } else {
        parts[count] = l->softmax ? softmax_over(w, v, 2) : sigmoid(w, v);
    }
    *out = as_map(w, l, ddp_onnx_concat(w, parts, (size_t)count + 1, 2));
    return DDP_OK;
}

ddp_status ddp_onnx_detection(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out,
                              ddp_error *err)
{
    int cells = l->side * l->side, scores = cells * l->classes;
    const int64_t by_cell[] = {cells, l->classes}, row = scores;
    ddp_onnx_value v = ddp_onnx_input_as_rows(w, l), parts[2];

    (void)err;
    *out = v;
    if (!l->softmax)
        return DDP_OK;
    parts[0] = ddp_onnx_reshape(w, ddp_onnx_slice(w, v, 1, 0, scores, 1), by_cell, 2);
    parts[0] = ddp_onnx_reshape(w, softmax_over(w, parts[0], 2), &row, 1);
    parts[1] = ddp_onnx_slice(w, v, 1, scores, l->outputs, 1);
    *out = ddp_onnx_concat(w, parts, 2, 1);
    return DDP_OK;
}

ddp_status ddp_onnx_iseg(ddp_layer_writer *w, const layer *l, ddp_onnx_value *out, ddp_error *err)
{
    ddp_onnx_value v = ddp_onnx_layer_input(w, 0).value, parts[2];

    (void)err;
    parts[0] = sigmoid(w, ddp_onnx_slice(w, v, 1, 0, l->classes, 1));
    parts[1] = ddp_onnx_slice(w, v, 1, l->classes, l->classes + l->extra, 1);
    *out = ddp_onnx_concat(w, parts, l->extra ? 2 : 1, 1);
    return DDP_OK;
}
