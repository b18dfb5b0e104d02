#include "layers/heads/yolo_v4.h"
#include "layers/heads/yolo_formulas.h"
#include "layers/heads/yolo_v4_formulas.h"

#define LEAST_PROBABILITY 1e-4f /* less counts as this: one visit must not outweigh all others */

void yolo_v4_scale(layer l)
{
    int b, n, i, cells = l.w * l.h;
    float s = l.yolo.scale_x_y;
    if (s == 1)
        return;
    for (b = 0; b < l.batch; ++b) {
        for (n = 0; n < l.n; ++n) {
            float *x = l.output + (size_t)b * (size_t)l.outputs
                       + (size_t)n * (size_t)cells * (size_t)(4 + 1 + l.classes);
            for (i = 0; i < 2 * cells; ++i)
                x[i] = scale_centre(x[i], s);
        }
    }
}

static void train_picture(layer l, network net, int picture, yolo_tally *sum)
{
    team alone = ALONE;
    int row, column, n, t;
    const float *truths = net.truth + (size_t)picture * (size_t)l.truths;
    for (row = 0; row < l.h; ++row) {
        for (column = 0; column < l.w; ++column) {
            for (n = 0; n < l.n; ++n) {
                place p = place_at(l, net, picture, n, column, row);
                sum->any_object += *objectness(p, p.x);
                train_unassigned(l, net, p, truths);
            }
        }
    }
    for (t = 0; t < l.max_boxes; ++t) {
        const float *truth = truths + t * BOX_VALUES;
        if (!truth[0])
            break;
        if (box_cell(l, truth, &column, &row))
            assign_truth(l, net, picture, row, column, truth, alone, sum);
    }
    if (l.yolo.iou_thresh >= 1)
        return;
    for (row = 0; row < l.h; ++row) {
        for (column = 0; column < l.w; ++column) {
            for (n = 0; n < l.n; ++n)
                average_box(l, place_at(l, net, picture, n, column, row));
        }
    }
}

head_figures yolo_v4_parts_of_cost(layer l, head_figures squares, const yolo_tally *sum)
{
    if (l.yolo.iou_loss == IOU_MSE)
        return squares;
    squares.box_loss = sum->count ? l.yolo.iou_normalizer * sum->box_loss / (float)sum->count : 0;
    squares.object_loss *= l.yolo.obj_normalizer;
    squares.class_loss *= l.yolo.obj_normalizer;
    return squares;
}

float yolo_truth_loss(layer l, network net, int picture, const float *truth)
{
    box b = float_to_box((float *)truth, 1);
    int column, row, n = int_index(l.mask, best_anchor(l, net, b), l.n);
    if (n < 0 || !box_cell(l, truth, &column, &row))
        return -1;
    place p = place_at(l, net, picture, n, column, row);
    float iou = box_iou(p.pred, b);
    return -logf(fmaxf(*objectness(p, p.x), LEAST_PROBABILITY))
           - logf(fmaxf(*class_value(p, p.x, truth_class(l, truth)), LEAST_PROBABILITY)) + 1
           - (is_finite(iou) ? iou : 0);
}

void yolo_v4_train(layer l, network net, yolo_tally *sum)
{
    int b;
    for (b = 0; b < l.batch; ++b)
        train_picture(l, net, b, sum);
}
