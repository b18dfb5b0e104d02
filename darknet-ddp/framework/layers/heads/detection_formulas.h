/* layers/heads/detection_formulas.h: deltas of [detection], for CPU and GPU (formulas.h). */
#ifndef DETECTION_FORMULAS_H
#define DETECTION_FORMULAS_H
#include "box.h"
#include "detection_layer.h"
#include "layers/heads/formulas.h"
#include <math.h>

/* Write the deltas of cell i of picture b of a [detection], on CPU or GPU, from l.output and
 * net.truth. l.delta must hold zeros. All are in memory of the device that computes. drawn: number
 * of the anchor that learns the cell's truth. -1: the one that fits best; with l.forced, number 1
 * if the truth has less than a tenth of the picture, else 0. Adds figures to *sum. */
FORMULA void train_detection_cell(layer l, network net, int b, int i, int drawn,
                                  detection_tally *sum)
{
    int j;
    int locations = l.side * l.side;
    int index = b * l.inputs;
    int truth_index = (b * locations + i) * (1 + l.coords + l.classes);
    int is_obj = net.truth[truth_index];
    for (j = 0; j < l.n; ++j) {
        int p_index = index + locations * l.classes + i * l.n + j;
        l.delta[p_index] = l.noobject_scale * (0 - l.output[p_index]);
        sum->any_object += l.output[p_index];
    }

    int best_index = -1;
    float best_iou = 0;
    float best_rmse = 20;

    if (!is_obj)
        return;

    int class_index = index + i * l.classes;
    for (j = 0; j < l.classes; ++j) {
        l.delta[class_index + j] =
            l.class_scale * (net.truth[truth_index + 1 + j] - l.output[class_index + j]);
        if (net.truth[truth_index + 1 + j])
            sum->label += l.output[class_index + j];
        sum->any_label += l.output[class_index + j];
    }

    box truth = float_to_box(net.truth + truth_index + 1 + l.classes, 1);
    truth.x /= l.side;
    truth.y /= l.side;

    for (j = 0; j < l.n; ++j) {
        int box_index = index + locations * (l.classes + l.n) + (i * l.n + j) * l.coords;
        box out = float_to_box(l.output + box_index, 1);
        out.x /= l.side;
        out.y /= l.side;

        if (l.sqrt) {
            out.w = out.w * out.w;
            out.h = out.h * out.h;
        }

        float iou = box_iou(out, truth);
        float rmse = box_rmse(out, truth);
        if (best_iou > 0 || iou > 0) {
            if (iou > best_iou) {
                best_iou = iou;
                best_index = j;
            }
        } else {
            if (rmse < best_rmse) {
                best_rmse = rmse;
                best_index = j;
            }
        }
    }

    if (l.forced) {
        if (truth.w * truth.h < .1) {
            best_index = 1;
        } else {
            best_index = 0;
        }
    }
    if (drawn >= 0)
        best_index = drawn;
    if (best_index < 0)
        best_index = 0; // no predicted box is near the truth

    int box_index = index + locations * (l.classes + l.n) + (i * l.n + best_index) * l.coords;
    int tbox_index = truth_index + 1 + l.classes;

    box out = float_to_box(l.output + box_index, 1);
    out.x /= l.side;
    out.y /= l.side;
    if (l.sqrt) {
        out.w = out.w * out.w;
        out.h = out.h * out.h;
    }
    float iou = box_iou(out, truth);

    int p_index = index + locations * l.classes + i * l.n + best_index;
    sum->object += l.output[p_index];
    l.delta[p_index] = l.object_scale * (1. - l.output[p_index]);

    if (l.rescore) {
        l.delta[p_index] = l.object_scale * (iou - l.output[p_index]);
    }

    l.delta[box_index + 0] = l.coord_scale * (net.truth[tbox_index + 0] - l.output[box_index + 0]);
    l.delta[box_index + 1] = l.coord_scale * (net.truth[tbox_index + 1] - l.output[box_index + 1]);
    l.delta[box_index + 2] = l.coord_scale * (net.truth[tbox_index + 2] - l.output[box_index + 2]);
    l.delta[box_index + 3] = l.coord_scale * (net.truth[tbox_index + 3] - l.output[box_index + 3]);
    if (l.sqrt) {
        l.delta[box_index + 2] =
            l.coord_scale * (sqrt(net.truth[tbox_index + 2]) - l.output[box_index + 2]);
        l.delta[box_index + 3] =
            l.coord_scale * (sqrt(net.truth[tbox_index + 3]) - l.output[box_index + 3]);
    }

    sum->iou += iou;
    ++sum->count;
}

#endif
