/* Writes ONNX nodes that compute boxes and scores from the outputs of heads, by the order and the
 * formulas of Darknet's get_network_boxes. A box is its left, upper, right and lower side, in
 * fractions of the network's input. */
#include "onnx/layer_writer.h"

#include <stdlib.h>

/* The finds of one head: batch x places x 4, and batch x places x classes. */
typedef struct found {
    ddp_onnx_value boxes, scores;
} found;

/* Return boxes by their sides; along `axis` of both lie x and y. */
static ddp_onnx_value sides(ddp_layer_writer *w, ddp_onnx_value middles, ddp_onnx_value sizes,
                            int axis)
{
    ddp_onnx_value half = ddp_onnx_scaled(w, sizes, .5F);
    const ddp_onnx_value ends[] = {ddp_onnx_node2(w->g, "Sub", middles, half),
                                   ddp_onnx_node2(w->g, "Add", middles, half)};

    return ddp_onnx_concat(w, ends, 2, axis);
}

/* Return the column and the row of each cell, 2 x cells. 0: no memory. */
static ddp_onnx_value grid(ddp_layer_writer *w, int wide, int high)
{
    size_t cells = (size_t)wide * (size_t)high;
    float *places = malloc(2 * cells * sizeof *places);
    ddp_onnx_value v = 0;

    for (size_t i = 0; places && i < cells; i++) {
        size_t row = i / (size_t)wide;

        places[i] = (float)(i - row * (size_t)wide);
        places[cells + i] = (float)row;
    }
    if (places)
        v = ddp_onnx_floats(w->g, "grid", places, (const int64_t[]){2, (int64_t)cells}, 2);
    free(places);
    return v;
}

/* Return the anchors of a [yolo] or [region] in parts of the network's input, n x 2 x 1. */
static ddp_onnx_value anchors(ddp_layer_writer *w, const layer *l)
{
    float *sizes = malloc(2 * (size_t)l->n * sizeof *sizes);
    ddp_onnx_value v = 0;

    for (int i = 0; sizes && i < l->n; i++) {
        const float *anchor = l->biases + 2 * (l->type == YOLO ? l->mask[i] : i);

        sizes[2 * i] = anchor[0] / (float)(l->type == YOLO ? w->net->w : l->w);
        sizes[2 * i + 1] = anchor[1] / (float)(l->type == YOLO ? w->net->h : l->h);
    }
    if (sizes)
        v = ddp_onnx_floats(w->g, "anchors", sizes, (const int64_t[]){l->n, 2, 1}, 3);
    free(sizes);
    return v;
}

/* Return v, anchors x values x cells, as a row for each place: [yolo] has all anchors of a cell
 * first, [region] all cells of an anchor. */
static ddp_onnx_value places(ddp_layer_writer *w, const layer *l, ddp_onnx_value v, int values)
{
    const int64_t yolo[] = {0, 3, 1, 2}, region[] = {0, 1, 3, 2};
    const int64_t rows[] = {(int64_t)l->n * l->w * l->h, values};

    v = ddp_onnx_transpose(w, v, l->type == YOLO ? yolo : region, 4);
    return ddp_onnx_reshape(w, v, rows, 2);
}

static found decode(ddp_layer_writer *w, const layer *l, ddp_onnx_value v)
{
    const float cell[] = {1 / (float)l->w, 1 / (float)l->h};
    int coords = l->type == YOLO ? 4 : l->coords, values = coords + 1 + l->classes;
    ddp_onnx_value all =
        ddp_onnx_reshape(w, v, (const int64_t[]){l->n, values, (int64_t)l->w * l->h}, 3);
    ddp_onnx_value xy = ddp_onnx_slice(w, all, 2, 0, 2, 1);
    ddp_onnx_value wh = ddp_onnx_slice(w, all, 2, 2, 4, 1);
    ddp_onnx_value object = ddp_onnx_slice(w, all, 2, coords, coords + 1, 1);
    ddp_onnx_value scores = ddp_onnx_slice(w, all, 2, coords + 1, values, 1);

    xy = ddp_onnx_node2(w->g, "Add", xy, grid(w, l->w, l->h));
    xy = ddp_onnx_node2(w->g, "Mul", xy,
                        ddp_onnx_floats(w->g, "cell", cell, (const int64_t[]){2, 1}, 2));
    if (l->type == YOLO && l->yolo.new_coords)
        wh = ddp_onnx_scaled(w, ddp_onnx_node2(w->g, "Mul", wh, wh), 4);
    else
        wh = ddp_onnx_node1(w->g, "Exp", wh);
    wh = ddp_onnx_node2(w->g, "Mul", wh, anchors(w, l));
    if (l->type == YOLO || !l->background)
        scores = ddp_onnx_node2(w->g, "Mul", scores, object);
    return (found){places(w, l, sides(w, xy, wh, 2), 4), places(w, l, scores, l->classes)};
}

/* [detection]: scores of cells, objectness of boxes, boxes; a cell's row in each. */
static found decode_detection(ddp_layer_writer *w, const layer *l, ddp_onnx_value v)
{
    const int64_t cells = (int64_t)l->side * l->side, n = l->n, classes = l->classes;
    const int64_t object_at = cells * classes, box_at = object_at + cells * n;
    const int64_t rows[] = {cells * n, 4}, score_rows[] = {cells * n, classes};
    ddp_onnx_value scores = ddp_onnx_slice(w, v, 1, 0, object_at, 1);
    ddp_onnx_value object = ddp_onnx_slice(w, v, 1, object_at, box_at, 1);
    ddp_onnx_value box = ddp_onnx_slice(w, v, 1, box_at, box_at + cells * n * 4, 1), xy, wh, at;

    box = ddp_onnx_reshape(w, box, (const int64_t[]){cells, n, 4}, 3);
    scores = ddp_onnx_reshape(w, scores, (const int64_t[]){cells, 1, classes}, 3);
    object = ddp_onnx_reshape(w, object, (const int64_t[]){cells, n, 1}, 3);
    at = ddp_onnx_transpose(w, grid(w, l->side, l->side), (const int64_t[]){1, 0}, 2);
    at =
        ddp_onnx_node2(w->g, "Reshape", at, ddp_onnx_ints(w->g, (const int64_t[]){cells, 1, 2}, 3));
    xy = ddp_onnx_node2(w->g, "Add", ddp_onnx_slice(w, box, 3, 0, 2, 1), at);
    xy = ddp_onnx_scaled(w, xy, 1 / (float)l->side);
    wh = ddp_onnx_slice(w, box, 3, 2, 4, 1);
    if (l->sqrt)
        wh = ddp_onnx_node2(w->g, "Mul", wh, wh);
    scores = ddp_onnx_node2(w->g, "Mul", scores, object);
    return (found){ddp_onnx_reshape(w, sides(w, xy, wh, 3), rows, 2),
                   ddp_onnx_reshape(w, scores, score_rows, 2)};
}

static int finds_boxes(const layer *l)
{
    return l->type == YOLO || l->type == REGION || l->type == DETECTION;
}

/* Join what the heads have found in *all, and count their places. */
static ddp_status join_heads(ddp_layer_writer *w, found *all, int64_t *count, int *classes,
                             ddp_error *err)
{
    for (int i = 0; i < w->net->n; i++) {
        const layer *l = w->net->layers + i;
        ddp_onnx_value v = w->outputs[i].value;
        found f;

        if (!finds_boxes(l))
            continue;
        w->index = i;
        ddp_onnx_begin_layer(w->g, i, "boxes");
        if (l->type == REGION && l->softmax_tree)
            return ddp_onnx_refuse(w, err,
                                   "boxes of a tree= of classes are not written to ONNX: "
                                   "-heads raw writes what the layer gives");
        if (*count && l->classes != *classes)
            return ddp_onnx_refuse(w, err, "has other classes than the heads before: -heads raw");
        f = l->type == DETECTION ? decode_detection(w, l, v) : decode(w, l, v);
        if (*count) {
            f.boxes = ddp_onnx_concat(w, (const ddp_onnx_value[]){all->boxes, f.boxes}, 2, 1);
            f.scores = ddp_onnx_concat(w, (const ddp_onnx_value[]){all->scores, f.scores}, 2, 1);
        }
        *all = f;
        *classes = l->classes;
        *count += (int64_t)l->n * (l->type == DETECTION ? l->side * l->side : l->w * l->h);
    }
    return DDP_OK;
}

ddp_status ddp_onnx_write_boxes(ddp_layer_writer *w, ddp_error *err)
{
    int64_t count = 0;
    int classes = 0;
    found all = {0};

    if (join_heads(w, &all, &count, &classes, err))
        return err->code;
    if (w->options.heads == DDP_ONNX_NMS)
        return ddp_onnx_write_nms(w, all.boxes, all.scores, classes, count, err);
    ddp_onnx_output(w->g, "boxes", all.boxes, NULL, (const int64_t[]){count, 4}, 2);
    ddp_onnx_output(w->g, "scores", all.scores, NULL, (const int64_t[]){count, classes}, 2);
    return DDP_OK;
}
