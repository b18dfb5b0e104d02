/* layers/heads/head_formulas.h: functions for the training of both [yolo] and [region] layers, for
 * CPU and GPU (formulas.h). */
#ifndef HEAD_FORMULAS_H
#define HEAD_FORMULAS_H
#include "box.h"
#include "darknet.h"
#include "layers/heads/formulas.h"
#include <math.h>

/* Set *column and *row to the cell of layer l in which the centre of `truth` lies, and return 1.
 * Return 0 if there is none. With l.yolo.v4 the last column and row have what lies beyond them. */
FORMULA int box_cell(layer l, const float *truth, int *column, int *row)
{
    if (truth[0] > 100000)
        return 0; // a label without a place: its file says 0, 0
    *column = (int)(truth[0] * (float)l.w);
    *row = (int)(truth[1] * (float)l.h);
    if (l.yolo.v4 && *column >= l.w)
        *column = l.w - 1; // a centre at the very edge
    if (l.yolo.v4 && *row >= l.h)
        *row = l.h - 1;
    return *column >= 0 && *row >= 0 && *column < l.w && *row < l.h;
}

/* Return the box that an anchor of a cell predicts, in fractions of the picture.
 *   x, index, stride   its four outputs are x[index], x[index + stride], ...
 *   biases, n          the anchor is biases[2*n] wide and biases[2*n + 1] high
 *   i, j, lw, lh       column and row of the cell, of lw columns and lh rows
 *   w, h               size of the picture, in the anchor's unit */
FORMULA box get_head_box(float *x, float *biases, int n, int index, int i, int j, int lw, int lh,
                         int w, int h, int stride)
{
    box b;
    b.x = ((float)i + x[index + 0 * stride]) / (float)lw;
    b.y = ((float)j + x[index + 1 * stride]) / (float)lh;
    b.w = (float)(exp(x[index + 2 * stride]) * biases[2 * n] / w);
    b.h = (float)(exp(x[index + 3 * stride]) * biases[2 * n + 1] / h);
    return b;
}

/* Set the deltas of the box that get_head_box returns for the same arguments, so that it learns
 * `truth`, and return the IoU of both. Lane 0 of the team (formulas.h) writes the four deltas,
 * times `scale`, to delta[index], delta[index + stride], ... */
FORMULA float delta_head_box(box truth, float *x, float *biases, int n, int index, int i, int j,
                             int lw, int lh, int w, int h, float *delta, float scale, int stride,
                             team t)
{
    box pred = get_head_box(x, biases, n, index, i, j, lw, lh, w, h, stride);
    float iou = box_iou(pred, truth);

    float tx = truth.x * (float)lw - (float)i;
    float ty = truth.y * (float)lh - (float)j;
    float tw = (float)log(truth.w * (float)w / biases[2 * n]);
    float th = (float)log(truth.h * (float)h / biases[2 * n + 1]);

    if (t.lane)
        return iou;
    delta[index + 0 * stride] = scale * (tx - x[index + 0 * stride]);
    delta[index + 1 * stride] = scale * (ty - x[index + 1 * stride]);
    delta[index + 2 * stride] = scale * (tw - x[index + 2 * stride]);
    delta[index + 3 * stride] = scale * (th - x[index + 3 * stride]);
    return iou;
}

#endif
