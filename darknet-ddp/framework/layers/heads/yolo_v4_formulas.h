/* layers/heads/yolo_v4_formulas.h: the training of a [yolo] layer by the formulas of those forks of
 * Darknet that support YOLOv4, on CPU and GPU (formulas.h). A place is one anchor of one cell of
 * one picture. A truth, a labelled box, is x, y, w, h, class. Functions with a parameter `sum` add
 * the statistics of what they train to it. */
#ifndef YOLO_V4_FORMULAS_H
#define YOLO_V4_FORMULAS_H
#include "layers/heads/formulas.h"
#include "layers/heads/iou.h"
#include "layers/heads/yolo_v4.h"
#include "utils.h"
#include "yolo_layer.h"
#include <math.h>

/* Probability of a class above which a place may show an object (train_unassigned). */
#define SURE_OF_A_CLASS .25f

/* One anchor of one cell of one picture. Its outputs are x[0], x[stride], ...: x, y, w and h of the
 * box, objectness, classes. */
typedef struct {
    float *x, *delta;
    int stride;
    int anchor; /* index of the anchor: l.biases[2 * anchor] is its width */
    int column, row;
    box pred; /* the predicted box */
} place;

/* Return the output x for a box's centre, stretched by the key scale_x_y, s. The centre may then
 * lie up to (s - 1)/2 cells outside of the box's cell. */
FORMULA float scale_centre(float x, float s)
{
    return x * s - (s - 1) / 2;
}

PUBLIC_FORMULA box yolo_v4_box(layer l, const float *x, int anchor, int column, int row, int w,
                               int h)
{
    int stride = l.w * l.h;
    float tw = x[2 * stride], th = x[3 * stride];
    float aw = l.biases[2 * anchor], ah = l.biases[2 * anchor + 1];
    box b = {((float)column + x[0]) / (float)l.w, ((float)row + x[stride]) / (float)l.h, 0, 0};
    if (l.yolo.new_coords) {
        b.w = 4 * tw * tw * aw / (float)w;
        b.h = 4 * th * th * ah / (float)h;
    } else { /* rounded once: an overlap may lie at ignore_thresh */
        b.w = (float)(exp((double)tw) * aw / w);
        b.h = (float)(exp((double)th) * ah / h);
    }
    return b;
}

/* Return the place of a cell and the anchor l.mask[n]. */
FORMULA place place_at(layer l, network net, int picture, int n, int column, int row)
{
    place p;
    int cells = l.w * l.h;
    size_t first = (size_t)picture * (size_t)l.outputs
                   + (size_t)n * (size_t)cells * (size_t)(4 + 1 + l.classes) + (size_t)(row * l.w)
                   + (size_t)column;
    p.x = l.output + first;
    p.delta = l.delta + first;
    p.stride = cells;
    p.anchor = l.mask[n];
    p.column = column;
    p.row = row;
    p.pred = yolo_v4_box(l, p.x, p.anchor, column, row, net.w, net.h);
    return p;
}

FORMULA float *objectness(place p, float *of)
{
    return of + 4 * p.stride;
}

FORMULA float *class_value(place p, float *of, int label)
{
    return of + (5 + label) * p.stride;
}

FORMULA int truth_class(layer l, const float *truth)
{
    int label = (int)truth[4];
    return l.map ? l.map[label] : label;
}

FORMULA float class_weight(layer l, int label)
{
    return l.yolo.class_weights ? l.yolo.class_weights[label] : 1;
}

/* Return d, limited to -max_delta .. max_delta of the cfg; 0 if d is not finite. */
FORMULA float limit_delta(layer l, float d)
{
    if (!is_finite(d))
        return 0;
    return constrain(-l.yolo.max_delta, l.yolo.max_delta, d);
}

/* Return the deltas with which the outputs of p's box learn `truth` if iou_loss=mse. */
FORMULA dbox mse_box_deltas(layer l, network net, place p, box truth)
{
    float bw = l.biases[2 * p.anchor], bh = l.biases[2 * p.anchor + 1];
    float w = truth.w * (float)net.w / bw, h = truth.h * (float)net.h / bh;
    float scale = (2 - truth.w * truth.h) * l.yolo.iou_normalizer;
    dbox d;
    d.dx = scale * (truth.x * (float)l.w - (float)p.column - p.x[0]);
    d.dy = scale * (truth.y * (float)l.h - (float)p.row - p.x[p.stride]);
    d.dw = scale * ((l.yolo.new_coords ? sqrtf(w / 4) : logf(w)) - p.x[2 * p.stride]);
    d.dh = scale * ((l.yolo.new_coords ? sqrtf(h / 4) : logf(h)) - p.x[3 * p.stride]);
    return d;
}

/* Return the deltas with which the outputs of p's box learn `truth` by an iou_loss other than
 * IOU_MSE: `scale` times iou_gradient, limited by limit_delta. Without new_coords, dw and dh also
 * have the factor exp(output). A predicted w or h of 0 counts as 1. */
FORMULA dbox iou_box_deltas(layer l, place p, box truth, float scale)
{
    box pred = p.pred;
    if (pred.w == 0)
        pred.w = 1;
    if (pred.h == 0)
        pred.h = 1;
    dbox d = iou_gradient(pred, truth, l.yolo.iou_loss);
    if (!l.yolo.new_coords) {
        d.dw *= expf(p.x[2 * p.stride]);
        d.dh *= expf(p.x[3 * p.stride]);
    }
    d.dx = limit_delta(l, d.dx * scale);
    d.dy = limit_delta(l, d.dy * scale);
    d.dw = limit_delta(l, d.dw * scale);
    d.dh = limit_delta(l, d.dh * scale);
    return d;
}

/* Let the box of place p learn `truth`, a box of class `label`: add to the box's deltas. Lane 0 of
 * team t does so; other lanes return at once. */
FORMULA void train_box(layer l, network net, place p, box truth, int label, team t)
{
    if (t.lane)
        return;
    float weight = class_weight(l, label);
    dbox d;
    if (l.yolo.iou_loss == IOU_MSE) {
        d = mse_box_deltas(l, net, p, truth);
        d.dx *= weight;
        d.dy *= weight;
        d.dw *= weight;
        d.dh *= weight;
    } else
        d = iou_box_deltas(l, p, truth, l.yolo.iou_normalizer * weight);
    p.delta[0] += d.dx;
    p.delta[p.stride] += d.dy;
    p.delta[2 * p.stride] += d.dw;
    p.delta[3 * p.stride] += d.dh;
}

/* Return the factor of class deltas for focal_loss=1. `probability`: output of the true class. */
FORMULA float focal_factor(const float *probability)
{
    float p = *probability + 1e-15f;
    return -.5f * (1 - p) * (2 * p * logf(p) + p - 1);
}

/* Write the class deltas of place p, so that it learns class `label`. If `label` has a delta from
 * an earlier call, write only this delta. Every lane of team t calls it. */
FORMULA void train_class(layer l, place p, int label, team t)
{
    int i;
    float eps = l.yolo.label_smooth_eps;
    float *own = class_value(p, p.delta, label);
    float given = *own;
    sync_team(t);
    if (given) {
        if (t.lane == 0)
            *own = (1 - eps / 2 - *class_value(p, p.x, label)) * class_weight(l, label);
        return;
    }
    for (i = t.lane; i < l.classes; i += t.lanes) {
        float target = i == label ? 1 : 0;
        if (!l.yolo.focal_loss)
            target = target * (1 - eps) + eps / 2;
        *class_value(p, p.delta, i) = target - *class_value(p, p.x, i);
    }
    if (l.yolo.focal_loss) {
        float scale = focal_factor(class_value(p, p.x, label));
        for (i = t.lane; i < l.classes; i += t.lanes)
            *class_value(p, p.delta, i) *= scale;
    } else if (l.yolo.class_weights && label % t.lanes == t.lane)
        *own *= class_weight(l, label) * l.yolo.cls_normalizer;
}

FORMULA int has_likely_class(layer l, place p)
{
    int i;
    for (i = 0; i < l.classes; ++i) {
        if (*class_value(p, p.x, i) > SURE_OF_A_CLASS)
            return 1;
    }
    return 0;
}

/* Return the truth with the highest IoU with p's box, and set *iou to this IoU. If no truth
 * overlaps the box, return null, and set *iou to 0. `truths`: the picture's. */
FORMULA const float *best_truth(layer l, place p, const float *truths, float *iou)
{
    int t;
    const float *best = 0;
    *iou = 0;
    for (t = 0; t < l.max_boxes; ++t) {
        const float *truth = truths + t * (4 + 1);
        if (!truth[0])
            break;
        float v = box_iou(p.pred, float_to_box((float *)truth, 1));
        if (v > *iou) {
            *iou = v;
            best = truth;
        }
    }
    return best;
}

/* Train place p before assign_truth. `truths`: the picture's. The best IoU of p's box with a truth
 * decides what is learnt:
 * - above truth_thresh: box, objectness, classes learn this truth (objectness_smooth: by IoU*IoU)
 * - else above ignore_thresh, with a class above SURE_OF_A_CLASS: objectness learns the IoU with
 *   objectness_smooth, and nothing is learnt without
 * - else: objectness learns 0 */
FORMULA void train_unassigned(layer l, network net, place p, const float *truths)
{
    team t = ALONE;
    float iou, rate = l.yolo.obj_normalizer;
    float object = *objectness(p, p.x), *delta = objectness(p, p.delta);
    const float *truth = best_truth(l, p, truths, &iou);
    *delta = -rate * object;
    if (iou > l.ignore_thresh && has_likely_class(l, p))
        *delta = l.yolo.objectness_smooth ? fmaxf(rate * (iou - object), *delta) : 0;
    if (iou > l.truth_thresh) {
        int label = truth_class(l, truth);
        *delta = rate * ((l.yolo.objectness_smooth ? iou * iou : 1) - object);
        train_class(l, p, label, t);
        if (l.yolo.objectness_smooth) {
            *class_value(p, p.delta, label) =
                class_weight(l, label) * (iou * iou - *class_value(p, p.x, label));
        }
        train_box(l, net, p, float_to_box((float *)truth, 1), label, t);
    }
}

/* Let the box, objectness and class of place p learn `truth`. With objectness_smooth, objectness
 * learns only if the delta of objectness is 0. Call after train_unassigned. */
FORMULA void train_assigned(layer l, network net, place p, const float *truth, team t,
                            yolo_tally *sum)
{
    int label = truth_class(l, truth);
    box b = float_to_box((float *)truth, 1);
    float *delta = objectness(p, p.delta);
    train_box(l, net, p, b, label, t);
    if (t.lane == 0 && (!l.yolo.objectness_smooth || *delta == 0)) {
        *delta = class_weight(l, label) * l.yolo.obj_normalizer * (1 - *objectness(p, p.x));
    }
    train_class(l, p, label, t);

    float iou = box_iou(p.pred, b), giou = box_iou_kind(p.pred, b, IOU_GIOU);
    if (!is_finite(iou))
        iou = 0; // the predicted box has grown without bound
    if (!is_finite(giou))
        giou = -1;
    sum->iou += iou;
    sum->recall += iou > .5;
    sum->recall75 += iou > .75;
    sum->label += *class_value(p, p.x, label);
    sum->object += *objectness(p, p.x);
    sum->box_loss += 1 - (l.yolo.iou_loss == IOU_GIOU ? giou : iou);
    ++sum->count;
}

/* Return the overlap of an anchor with a truth, by the measure `kind`, with one centre for both. */
FORMULA float anchor_overlap(layer l, network net, int anchor, box truth, IOU_KIND kind)
{
    box a = {0, 0, l.biases[2 * anchor] / (float)net.w, l.biases[2 * anchor + 1] / (float)net.h};
    truth.x = truth.y = 0;
    return box_iou_kind(a, truth, kind);
}

FORMULA int best_anchor(layer l, network net, box truth)
{
    int n, best = 0;
    float best_iou = 0;
    for (n = 0; n < l.total; ++n) {
        float iou = anchor_overlap(l, net, n, truth, IOU_PLAIN);
        if (iou > best_iou) {
            best_iou = iou;
            best = n;
        }
    }
    return best;
}

/* Train the layer's anchors for a truth, in its cell. First train the anchor that fits the truth
 * best, if the layer has it, then all others that overlap the truth by more than iou_thresh. */
FORMULA void assign_truth(layer l, network net, int picture, int row, int column,
                          const float *truth, team t, yolo_tally *sum)
{
    int k;
    box b = float_to_box((float *)truth, 1);
    int best = best_anchor(l, net, b);
    int n = int_index(l.mask, best, l.n);
    if (n >= 0)
        train_assigned(l, net, place_at(l, net, picture, n, column, row), truth, t, sum);
    if (l.yolo.iou_thresh >= 1)
        return;
    for (k = 0; k < l.total; ++k) {
        n = int_index(l.mask, k, l.n);
        if (n < 0 || k == best)
            continue;
        if (anchor_overlap(l, net, k, b, l.yolo.iou_thresh_kind) <= l.yolo.iou_thresh)
            continue;
        train_assigned(l, net, place_at(l, net, picture, n, column, row), truth, t, sum);
    }
}

/* If p's objectness has a delta, divide its box's deltas, which train_box added up, by the number
 * of class deltas above 0, if there are two or more. Call after assign_truth for all truths. */
FORMULA void average_box(layer l, place p)
{
    int i, classes = 0;
    if (*objectness(p, p.delta) == 0)
        return;
    for (i = 0; i < l.classes; ++i)
        classes += *class_value(p, p.delta, i) > 0;
    if (classes < 2)
        return;
    for (i = 0; i < 4; ++i)
        p.delta[i * p.stride] /= (float)classes;
}

#endif
