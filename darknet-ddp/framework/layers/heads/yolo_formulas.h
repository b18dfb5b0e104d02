/* layers/heads/yolo_formulas.h: the training of a [yolo] as Darknet itself computes it (YOLOv3),
 * for CPU and GPU (formulas.h). It computes the deltas of each place (one anchor of one cell of one
 * picture), then of each truth. Arrays of l and net.truth are in the computing device's memory. */
#ifndef YOLO_FORMULAS_H
#define YOLO_FORMULAS_H
#include "box.h"
#include "layers/heads/head_formulas.h"
#include "yolo_layer.h"
#include <math.h>

#define BOX_VALUES (4 + 1) /* values of a truth, a labelled box: x, y, w, h, class */

/* Let the classes of a place learn class `label`, and add the output of `label` to *probability,
 * which may be NULL. If the first class of the place has a delta already, set only the delta of
 * `label`. `index`: index of the first class in l.output. */
FORMULA void delta_yolo_class(layer l, int index, int label, float *probability, team t)
{
    int n, stride = l.w * l.h;
    float *output = l.output, *delta = l.delta;
    float given = delta[index];
    sync_team(t);
    if (probability)
        *probability += output[index + stride * label];
    if (given) {
        if (t.lane == 0)
            delta[index + stride * label] = 1 - output[index + stride * label];
        return;
    }
    for (n = t.lane; n < l.classes; n += t.lanes) {
        delta[index + stride * n] = ((n == label) ? 1 : 0) - output[index + stride * n];
    }
}

/* Return the index in l.output of one output of a place of picture `batch`. `location`:
 * anchor*l.w*l.h + cell. `entry`: 0 to 3 for the box, 4 for objectness, then classes. */
FORMULA int yolo_entry_index(layer l, int batch, int location, int entry)
{
    int n = location / (l.w * l.h);
    int loc = location % (l.w * l.h);
    return batch * l.outputs + n * l.w * l.h * (4 + l.classes + 1) + entry * l.w * l.h + loc;
}

/* Train anchor n of column i, row j of picture b, before train_yolo_truth. `truths`: the picture's.
 * The best IoU of the box with a truth decides what is learnt:
 * - above truth_thresh: box, objectness and classes learn this truth
 * - else above ignore_thresh: nothing
 * - else: objectness learns 0 */
FORMULA void train_yolo_place(layer l, network net, int b, int n, int j, int i, float *truths)
{
    team t = ALONE;
    int k;
    int box_index = yolo_entry_index(l, b, n * l.w * l.h + j * l.w + i, 0);
    box pred = get_head_box(l.output, l.biases, l.mask[n], box_index, i, j, l.w, l.h, net.w, net.h,
                            l.w * l.h);
    float best_iou = 0;
    int best_t = 0;
    for (k = 0; k < l.max_boxes; ++k) {
        box truth = float_to_box(truths + k * BOX_VALUES, 1);
        if (!truth.x)
            break;
        float iou = box_iou(pred, truth);
        if (iou > best_iou) {
            best_iou = iou;
            best_t = k;
        }
    }
    int obj_index = yolo_entry_index(l, b, n * l.w * l.h + j * l.w + i, 4);
    l.delta[obj_index] = 0 - l.output[obj_index];
    if (best_iou > l.ignore_thresh) {
        l.delta[obj_index] = 0;
    }
    if (best_iou > l.truth_thresh) {
        l.delta[obj_index] = 1 - l.output[obj_index];

        int label = (int)truths[best_t * BOX_VALUES + 4];
        if (l.map)
            label = l.map[label];
        int class_index = yolo_entry_index(l, b, n * l.w * l.h + j * l.w + i, 4 + 1);
        delta_yolo_class(l, class_index, label, 0, t);
        box truth = float_to_box(truths + best_t * BOX_VALUES, 1);
        delta_head_box(truth, l.output, l.biases, l.mask[n], box_index, i, j, l.w, l.h, net.w,
                       net.h, l.delta, (2 - truth.w * truth.h), l.w * l.h, t);
    }
}

/* Let the anchor whose size fits a truth best learn the truth, in column i, row j of picture b, the
 * cell of the truth. If another layer has this anchor, do nothing. `values`: the truth. Adds the
 * statistics to *sum. */
FORMULA void train_yolo_truth(layer l, network net, int b, int j, int i, float *values, team t,
                              yolo_tally *sum)
{
    int n;
    box truth = float_to_box(values, 1);
    float best_iou = 0;
    int best_n = 0;
    box truth_shift = truth;
    truth_shift.x = truth_shift.y = 0;
    for (n = 0; n < l.total; ++n) {
        box pred = {0};
        pred.w = l.biases[2 * n] / (float)net.w;
        pred.h = l.biases[2 * n + 1] / (float)net.h;
        float iou = box_iou(pred, truth_shift);
        if (iou > best_iou) {
            best_iou = iou;
            best_n = n;
        }
    }

    int mask_n = int_index(l.mask, best_n, l.n);
    if (mask_n < 0)
        return;
    int box_index = yolo_entry_index(l, b, mask_n * l.w * l.h + j * l.w + i, 0);
    float iou = delta_head_box(truth, l.output, l.biases, best_n, box_index, i, j, l.w, l.h, net.w,
                               net.h, l.delta, (2 - truth.w * truth.h), l.w * l.h, t);

    int obj_index = yolo_entry_index(l, b, mask_n * l.w * l.h + j * l.w + i, 4);
    sum->object += l.output[obj_index];
    if (t.lane == 0)
        l.delta[obj_index] = 1 - l.output[obj_index];

    int label = (int)values[4];
    if (l.map)
        label = l.map[label];
    int class_index = yolo_entry_index(l, b, mask_n * l.w * l.h + j * l.w + i, 4 + 1);
    delta_yolo_class(l, class_index, label, &sum->label, t);

    ++sum->count;
    if (iou > .5)
        sum->recall += 1;
    if (iou > .75)
        sum->recall75 += 1;
    sum->iou += iou;
}

#endif
