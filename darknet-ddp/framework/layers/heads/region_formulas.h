/* layers/heads/region_formulas.h: the training of a [region] layer (YOLOv2), for CPU and GPU
 * (formulas.h). It computes the deltas of each place (one anchor of one cell of one picture), then
 * those of each truth. A truth, one label, is l.coords values and its class. The arrays of l and
 * net.truth are in memory of the device that computes. */
#ifndef REGION_FORMULAS_H
#define REGION_FORMULAS_H
#include "box.h"
#include "layers/heads/head_formulas.h"
#include "region_layer.h"
#include <math.h>

/* Set the deltas of n outputs, at x[index], x[index + stride], ..., to scale * (truth[i] - output),
 * at the same indices of delta. */
FORMULA void delta_region_mask(float *truth, float *x, int n, int index, float *delta, int stride,
                               int scale)
{
    int i;
    for (i = 0; i < n; ++i) {
        delta[index + i * stride] = scale * (truth[i] - x[index + i * stride]);
    }
}

/* Write the deltas that teach a place class `label` and, with a tree, its ancestors. Add the
 * probability of `label` to *probability. `index`: the first class's in l.output. Exception,
 * without tree and softmax: a place has learnt a class before if the delta of its first class is
 * not 0. Then write only the delta of `label`, and leave *probability. */
FORMULA void delta_region_class(layer l, int index, int label, float *probability, team t)
{
    int i, n, stride = l.w * l.h;
    float scale = l.class_scale, *output = l.output, *delta = l.delta;
    tree *hier = l.softmax_tree;
    if (hier) {
        float pred = 1;
        while (label >= 0) {
            pred *= output[index + stride * label];
            int g = hier->group[label];
            int offset = hier->group_offset[g];
            for (i = t.lane; i < hier->group_size[g]; i += t.lanes) {
                delta[index + stride * (offset + i)] =
                    scale
                    * (((offset + i == label) ? 1 : 0) - output[index + stride * (offset + i)]);
            }

            label = hier->parent[label];
        }
        *probability += pred;
    } else {
        float given = delta[index];
        sync_team(t);
        if (given && !l.softmax) {
            if (t.lane == 0)
                delta[index + stride * label] = scale * (1 - output[index + stride * label]);
            return;
        }
        for (n = t.lane; n < l.classes; n += t.lanes) {
            delta[index + stride * n] =
                scale * (((n == label) ? 1 : 0) - output[index + stride * n]);
        }
        *probability += output[index + stride * label];
    }
}

/* Return the index in l.output of one output of a place of picture `batch`. `location`:
 * anchor*l.w*l.h + cell. `entry`: below l.coords the box, l.coords objectness, then classes. */
FORMULA int region_entry_index(layer l, int batch, int location, int entry)
{
    int n = location / (l.w * l.h);
    int loc = location % (l.w * l.h);
    return batch * l.outputs + n * l.w * l.h * (l.coords + l.classes + 1) + entry * l.w * l.h + loc;
}

/* Return a picture's first truth that has a class but no box (its label file says 0, 0). Return
 * null if there is none, or if l has no tree. `truths`: the picture's. */
FORMULA float *truth_without_place(layer l, float *truths)
{
    int t;
    if (!l.softmax_tree)
        return 0;
    for (t = 0; t < l.max_boxes; ++t) {
        float *truth = truths + t * (l.coords + 1);
        if (!truth[0])
            break;
        if (truth[0] > 100000 && truth[1] > 100000)
            return truth;
    }
    return 0;
}

/* Return the probability that a place of picture b shows class `label` of the tree: objectness
 * times the outputs of `label` and its ancestors. Also set objectness's delta as for target 0
 * (l.noobject_scale). `place`: anchor*l.w*l.h + cell. */
FORMULA float class_of_region_place(layer l, int b, int place, int label)
{
    int class_index = region_entry_index(l, b, place, l.coords + 1);
    int obj_index = region_entry_index(l, b, place, l.coords);
    float p = 1;
    l.delta[obj_index] = l.noobject_scale * (0 - l.output[obj_index]);
    for (; label >= 0; label = l.softmax_tree->parent[label])
        p = p * l.output[class_index + label * l.w * l.h];
    return l.output[obj_index] * p;
}

/* Train only the classes of a place: they learn class `label` of the tree. Set objectness's delta
 * to 0. Call for the place where class_of_region_place is largest. Add to the statistics *sum. */
FORMULA void train_region_class(layer l, int b, int place, int label, team t, region_tally *sum)
{
    int class_index = region_entry_index(l, b, place, l.coords + 1);
    int obj_index = region_entry_index(l, b, place, l.coords);
    delta_region_class(l, class_index, label, &sum->label, t);
    if (t.lane == 0)
        l.delta[obj_index] = 0;
    ++sum->class_count;
}

/* Train anchor n of column i, row j of picture b, before train_region_truth. `truths`: the
 * picture's. Objectness learns 0 (with l.background: 1), or nothing if the box's IoU with a truth
 * is above l.thresh. In mini-batches that end before sample 12,800 the box learns the anchor's
 * size, centred in the cell. */
FORMULA void train_region_place(layer l, network net, int b, int n, int j, int i, float *truths)
{
    team alone = ALONE;
    int t;
    int box_index = region_entry_index(l, b, n * l.w * l.h + j * l.w + i, 0);
    box pred = get_head_box(l.output, l.biases, n, box_index, i, j, l.w, l.h, l.w, l.h, l.w * l.h);
    float best_iou = 0;
    for (t = 0; t < l.max_boxes; ++t) {
        box truth = float_to_box(truths + t * (l.coords + 1), 1);
        if (!truth.x)
            break;
        float iou = box_iou(pred, truth);
        if (iou > best_iou) {
            best_iou = iou;
        }
    }
    int obj_index = region_entry_index(l, b, n * l.w * l.h + j * l.w + i, l.coords);
    l.delta[obj_index] = l.noobject_scale * (0 - l.output[obj_index]);
    if (l.background)
        l.delta[obj_index] = l.noobject_scale * (1 - l.output[obj_index]);
    if (best_iou > l.thresh) {
        l.delta[obj_index] = 0;
    }

    if (net.sample + l.batch < 12800) {
        box truth = {0};
        truth.x = (i + .5) / l.w;
        truth.y = (j + .5) / l.h;
        truth.w = l.biases[2 * n] / l.w;
        truth.h = l.biases[2 * n + 1] / l.h;
        delta_head_box(truth, l.output, l.biases, n, box_index, i, j, l.w, l.h, l.w, l.h, l.delta,
                       .01, l.w * l.h, alone);
    }
}

/* Let one anchor of column i, row j of picture b, the cell of a truth, learn this truth. It is the
 * anchor whose predicted size (with l.bias_match: own size) fits best. Its objectness learns 1,
 * with l.rescore the IoU, with l.background 0. `values`: the truth. Adds to *sum. */
FORMULA void train_region_truth(layer l, int b, int j, int i, float *values, team t,
                                region_tally *sum)
{
    int n;
    box truth = float_to_box(values, 1);
    float best_iou = 0;
    int best_n = 0;
    box truth_shift = truth;
    truth_shift.x = 0;
    truth_shift.y = 0;
    for (n = 0; n < l.n; ++n) {
        int box_index = region_entry_index(l, b, n * l.w * l.h + j * l.w + i, 0);
        box pred =
            get_head_box(l.output, l.biases, n, box_index, i, j, l.w, l.h, l.w, l.h, l.w * l.h);
        if (l.bias_match) {
            pred.w = l.biases[2 * n] / l.w;
            pred.h = l.biases[2 * n + 1] / l.h;
        }
        pred.x = 0;
        pred.y = 0;
        float iou = box_iou(pred, truth_shift);
        if (iou > best_iou) {
            best_iou = iou;
            best_n = n;
        }
    }

    int box_index = region_entry_index(l, b, best_n * l.w * l.h + j * l.w + i, 0);
    float iou = delta_head_box(truth, l.output, l.biases, best_n, box_index, i, j, l.w, l.h, l.w,
                               l.h, l.delta, l.coord_scale * (2 - truth.w * truth.h), l.w * l.h, t);
    if (l.coords > 4 && t.lane == 0) {
        int mask_index = region_entry_index(l, b, best_n * l.w * l.h + j * l.w + i, 4);
        delta_region_mask(values + 5, l.output, l.coords - 4, mask_index, l.delta, l.w * l.h,
                          l.mask_scale);
    }
    if (iou > .5)
        sum->recall += 1;
    sum->iou += iou;

    int obj_index = region_entry_index(l, b, best_n * l.w * l.h + j * l.w + i, l.coords);
    sum->object += l.output[obj_index];
    if (t.lane == 0) {
        l.delta[obj_index] = l.object_scale * (1 - l.output[obj_index]);
        if (l.rescore) {
            l.delta[obj_index] = l.object_scale * (iou - l.output[obj_index]);
        }
        if (l.background) {
            l.delta[obj_index] = l.object_scale * (0 - l.output[obj_index]);
        }
    }

    int label = values[l.coords];
    if (l.map)
        label = l.map[label];
    int class_index = region_entry_index(l, b, best_n * l.w * l.h + j * l.w + i, l.coords + 1);
    delta_region_class(l, class_index, label, &sum->label, t);
    ++sum->count;
    ++sum->class_count;
}

#endif
