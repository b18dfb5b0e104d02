/* Writes the nodes of non-maximum suppression, which of a class's boxes that overlap keeps only the
 * likeliest. ONNX's NonMaxSuppression knows plain overlap (IoU). With nms_kind=greedynms or diounms
 * in the cfg, overlap counts less the further apart the centres of two boxes are (box_less_distance
 * in layers/heads/iou.h). These cfgs get a loop, or with a letter box are refused. Each turn takes
 * the likeliest box that is left, and removes its class from the boxes that overlap it. */
#include "onnx/layer_writer.h"

enum { ROW = 7 }; /* picture, four sides, score, class */

/* The finds of all heads, and what the body of the loop reads of them. */
typedef struct finds {
    ddp_onnx_value boxes; /* batch x count x 4 */
    int64_t count;
    int classes;
    float power; /* of the distance */
} finds;

static ddp_onnx_value as_float(ddp_layer_writer *w, ddp_onnx_value v)
{
    ddp_onnx_attribute_int(w->g, "to", 1);
    return ddp_onnx_node1(w->g, "Cast", v);
}

static ddp_onnx_value shaped(ddp_layer_writer *w, ddp_onnx_value v, int64_t first, int64_t second)
{
    const int64_t dims[] = {first, second};

    return ddp_onnx_node2(w->g, "Reshape", v, ddp_onnx_ints(w->g, dims, second ? 2 : 1));
}

/* ---- plain overlap ---- */

static ddp_onnx_value write_plain(ddp_layer_writer *w, const finds *f, ddp_onnx_value scores)
{
    const int64_t one = 1;
    const ddp_onnx_value inputs[] = {f->boxes, scores, ddp_onnx_ints(w->g, &f->count, 1),
                                     ddp_onnx_floats(w->g, "overlap", &w->options.nms, &one, 1),
                                     ddp_onnx_floats(w->g, "thresh", &w->options.thresh, &one, 1)};
    ddp_onnx_value chosen = ddp_onnx_node(w->g, "NonMaxSuppression", inputs, 5), columns[4], place;

    columns[0] = ddp_onnx_slice(w, chosen, 1, 0, 1, 1); /* picture, class, box */
    columns[3] = ddp_onnx_slice(w, chosen, 1, 1, 2, 1);
    place = ddp_onnx_concat(
        w, (const ddp_onnx_value[]){columns[0], ddp_onnx_slice(w, chosen, 1, 2, 3, 1)}, 2, 1);
    columns[1] = ddp_onnx_node2(w->g, "GatherND", f->boxes, place);
    columns[2] = ddp_onnx_reshape(w, ddp_onnx_node2(w->g, "GatherND", scores, chosen), &one, 1);
    columns[0] = as_float(w, columns[0]);
    columns[3] = as_float(w, columns[3]);
    return ddp_onnx_concat(w, columns, 4, 1);
}

/* ---- overlap less a power of the distance ---- */

/* Return the product of both columns of v. */
static ddp_onnx_value product(ddp_layer_writer *w, ddp_onnx_value v)
{
    return ddp_onnx_node2(w->g, "Mul", ddp_onnx_slice(w, v, 1, 0, 1, 1),
                          ddp_onnx_slice(w, v, 1, 1, 2, 1));
}

/* Return the sum of the squares of both columns of v. */
static ddp_onnx_value squares(ddp_layer_writer *w, ddp_onnx_value v)
{
    v = ddp_onnx_node2(w->g, "Mul", v, v);
    return ddp_onnx_node2(w->g, "Add", ddp_onnx_slice(w, v, 1, 0, 1, 1),
                          ddp_onnx_slice(w, v, 1, 1, 2, 1));
}

/* Return what `box`, 1 x 4, overlaps of each of `all`, count x 4: a column. */
static ddp_onnx_value overlap(ddp_layer_writer *w, ddp_onnx_value box, ddp_onnx_value all,
                              float power)
{
    ddp_onnx *g = w->g;
    ddp_onnx_value from = ddp_onnx_slice(w, box, 1, 0, 2, 1);
    ddp_onnx_value to = ddp_onnx_slice(w, box, 1, 2, 4, 1);
    ddp_onnx_value all_from = ddp_onnx_slice(w, all, 1, 0, 2, 1);
    ddp_onnx_value all_to = ddp_onnx_slice(w, all, 1, 2, 4, 1);
    ddp_onnx_value within = ddp_onnx_node2(g, "Sub", ddp_onnx_node2(g, "Min", to, all_to),
                                           ddp_onnx_node2(g, "Max", from, all_from));
    ddp_onnx_value around = ddp_onnx_node2(g, "Sub", ddp_onnx_node2(g, "Max", to, all_to),
                                           ddp_onnx_node2(g, "Min", from, all_from));
    ddp_onnx_value apart = ddp_onnx_node2(g, "Sub", ddp_onnx_node2(g, "Add", from, to),
                                          ddp_onnx_node2(g, "Add", all_from, all_to));
    ddp_onnx_value shared = product(w, ddp_onnx_node1(g, "Relu", within));
    ddp_onnx_value areas = ddp_onnx_node2(g, "Add", product(w, ddp_onnx_node2(g, "Sub", to, from)),
                                          product(w, ddp_onnx_node2(g, "Sub", all_to, all_from)));
    ddp_onnx_value iou = ddp_onnx_node2(g, "Div", shared, ddp_onnx_node2(g, "Sub", areas, shared));
    ddp_onnx_value distance =
        ddp_onnx_node2(g, "Div", squares(w, ddp_onnx_scaled(w, apart, .5F)), squares(w, around));

    distance = ddp_onnx_node2(g, "Pow", distance, ddp_onnx_scalar(g, power));
    return ddp_onnx_node2(g, "Sub", iou, distance);
}

/* Return a bool: is any score of `lines` above the threshold? */
static ddp_onnx_value any_left(ddp_layer_writer *w, ddp_onnx_value lines)
{
    ddp_onnx_attribute_int(w->g, "keepdims", 0);
    return ddp_onnx_node2(w->g, "Greater", ddp_onnx_node1(w->g, "ReduceMax", lines),
                          ddp_onnx_scalar(w->g, w->options.thresh));
}

/* Return what is left of `lines`, a line of scores for each class of each picture, once the box at
 * `place` of line `at` is taken. sides: that box's, 1 x 4. all: the boxes of its picture. */
static ddp_onnx_value take_scores(ddp_layer_writer *w, const finds *f, ddp_onnx_value lines,
                                  ddp_onnx_value at, ddp_onnx_value place, ddp_onnx_value sides,
                                  ddp_onnx_value all)
{
    ddp_onnx_value too_near = shaped(w, overlap(w, sides, all, f->power), f->count, 0);
    ddp_onnx_value gone =
        ddp_onnx_node2(w->g, "Greater", too_near, ddp_onnx_scalar(w->g, w->options.nms));
    ddp_onnx_value left = ddp_onnx_node3(w->g, "Where", gone, ddp_onnx_scalar(w->g, 0),
                                         ddp_onnx_node2(w->g, "GatherND", lines, at));

    ddp_onnx_attribute_int(w->g, "axis", 0);
    left =
        ddp_onnx_node3(w->g, "ScatterElements", left, place,
                       ddp_onnx_floats(w->g, "none", (const float[]){0}, (const int64_t[]){1}, 1));
    return ddp_onnx_node3(w->g, "ScatterND", lines, shaped(w, at, 1, 1),
                          shaped(w, left, 1, f->count));
}

static ddp_onnx_value write_loop(ddp_layer_writer *w, const finds *f, ddp_onnx_value scores)
{
    const int64_t classes = f->classes;
    ddp_onnx *g = w->g;
    ddp_onnx_value first = shaped(w, scores, -1, f->count), any = any_left(w, first);
    ddp_onnx_value lines = ddp_onnx_begin_loop(g), flat = shaped(w, lines, -1, 0);
    ddp_onnx_value best, at, place, picture, columns[4], sides, all, left;

    ddp_onnx_attribute_int(g, "axis", 0);
    best = ddp_onnx_node1(g, "ArgMax", flat);
    at = ddp_onnx_node2(g, "Div", best, ddp_onnx_ints(g, &f->count, 1));
    place = ddp_onnx_node2(g, "Mod", best, ddp_onnx_ints(g, &f->count, 1));
    picture = ddp_onnx_node2(g, "Div", at, ddp_onnx_ints(g, &classes, 1));
    all = ddp_onnx_node2(g, "GatherND", f->boxes, picture);
    sides = ddp_onnx_node2(g, "Gather", all, place);
    columns[0] = as_float(w, picture);
    columns[1] = shaped(w, sides, 4, 0);
    columns[2] = ddp_onnx_node2(g, "Gather", flat, best);
    columns[3] = as_float(w, ddp_onnx_node2(g, "Mod", at, ddp_onnx_ints(g, &classes, 1)));
    left = take_scores(w, f, lines, at, place, sides, all);
    return ddp_onnx_end_loop(g, any_left(w, left), left, ddp_onnx_concat(w, columns, 4, 0), ROW,
                             any, first);
}

/* ---- both ---- */

ddp_status ddp_onnx_write_nms(ddp_layer_writer *w, ddp_onnx_value boxes, ddp_onnx_value scores,
                              int classes, int64_t count, ddp_error *err)
{
    const layer *head = w->net->layers + w->index;
    const finds f = {boxes, count, classes, head->nms_kind == NMS_DIOU ? head->beta_nms : .6F};
    ddp_onnx_value lines = ddp_onnx_transpose(w, scores, (const int64_t[]){0, 2, 1}, 3);

    if (head->nms_kind != NMS_PLAIN && ddp_onnx_is_letter_boxed(w->net))
        return ddp_onnx_refuse(w, err,
                               "nms_kind= measures distances in the picture, and with a letter "
                               "box its shape is not known to the file: -heads boxes");
    ddp_onnx_output(w->g, "detections",
                    head->nms_kind == NMS_PLAIN ? write_plain(w, &f, lines)
                                                : write_loop(w, &f, lines),
                    "found", (const int64_t[]){ROW}, 1);
    return DDP_OK;
}
