/* layers/heads/detection_formulas.h: the training of a [detection] on CPU and GPU (formulas.h). */
#ifndef DETECTION_FORMULAS_H
#define DETECTION_FORMULAS_H
#include "box.h"
#include "detection_layer.h"
#include "layers/heads/formulas.h"
#include <math.h>

/* Return the box that the four outputs at x predict, in fractions of the picture. Its x and y are
 * the centre's distances from the cell's upper left corner. */
FORMULA box detection_box(layer l, float *x)
{
    box out = float_to_box(x, 1);
    out.x /= l.side;
    out.y /= l.side;
    if (l.sqrt) {
        out.w = out.w * out.w;
        out.h = out.h * out.h;
    }
    return out;
}

/* Return which of the cell's l.n boxes learns the truth: the one that overlaps it most or, if none
 * does, is nearest. With l.forced: box 1, if there is one, for a truth of less than a tenth of the
 * picture, else box 0. `boxes`: the first of them in l.output. truth: a box as detection_box
 * returns. */
FORMULA int detection_anchor(layer l, float *boxes, box truth)
{
    int best = 0, j;
    float best_iou = 0;
    float best_rmse = 20;

    if (l.forced)
        return l.n > 1 && truth.w * truth.h < .1;
    for (j = 0; j < l.n; ++j) {
        box out = detection_box(l, boxes + j * l.coords);
        float iou = box_iou(out, truth);
        float rmse = box_rmse(out, truth);
        if (best_iou > 0 || iou > 0) {
            if (iou > best_iou) {
                best_iou = iou;
                best = j;
            }
        } else if (rmse < best_rmse) {
            best_rmse = rmse;
            best = j;
        }
    }
    return best;
}

/* Compute the deltas of cell i of picture b from l.output and net.truth to l.delta, which must hold
 * zeros. Add the cell's statistics to *sum. All arrays are in memory of the device that computes.
 * `drawn`: index of the box that learns the cell's truth; -1: that of detection_anchor. */
FORMULA void train_detection_cell(layer l, network net, int b, int i, int drawn,
                                  detection_tally *sum)
{
    int j;
    int locations = l.side * l.side;
    float *output = l.output + b * l.inputs, *delta = l.delta + b * l.inputs;
    int objects = locations * l.classes + i * l.n;
    float *truths = net.truth + (b * locations + i) * (1 + l.coords + l.classes);

    for (j = 0; j < l.n; ++j) {
        delta[objects + j] = l.noobject_scale * (0 - output[objects + j]);
        sum->any_object += output[objects + j];
    }
    if (!(int)truths[0])
        return;

    for (j = 0; j < l.classes; ++j) {
        int at = i * l.classes + j;
        delta[at] = l.class_scale * (truths[1 + j] - output[at]);
        if (truths[1 + j])
            sum->label += output[at];
        sum->any_label += output[at];
    }

    float *wanted = truths + 1 + l.classes;
    int boxes = locations * (l.classes + l.n) + i * l.n * l.coords;
    box truth = float_to_box(wanted, 1);
    truth.x /= l.side;
    truth.y /= l.side;

    int best = drawn < 0 ? detection_anchor(l, output + boxes, truth) : drawn;
    int at = boxes + best * l.coords, object = objects + best;
    float iou = box_iou(detection_box(l, output + at), truth);

    sum->object += output[object];
    delta[object] = l.rescore ? l.object_scale * (iou - output[object])
                              : l.object_scale * (1. - output[object]);
    for (j = 0; j < 4; ++j)
        delta[at + j] = l.sqrt && j >= 2 ? l.coord_scale * (sqrt(wanted[j]) - output[at + j])
                                         : l.coord_scale * (wanted[j] - output[at + j]);
    sum->iou += iou;
    ++sum->count;
}

#endif
