#ifndef IOU_H
#define IOU_H
#include "box.h"
#include "darknet.h"

/*
 * Return the overlap of two boxes as the forks value it:
 *
 * - giou: iou - (C - U)/C, with the union U and the smallest box around both, of area C
 * - diou: iou - (s/d)^.6, with the squared distances s of the centres and d of the corners of the
 *   box around both
 * - ciou: iou - s/d - a*v, with v = 4/pi^2 (difference of atan(width/height))^2 and
 *   a = v/(1 - iou + v)
 */
float box_iou_kind(box a, box b, IOU_KIND kind);

/* iou - (s/d)^power, with diou's s and d: what is left of the overlap of boxes whose middles are
 * apart. */
float box_less_distance(box a, box b, float power);

/*
 * Return how fast box_iou_kind(pred, truth, kind) grows with pred's middle (dx, dy) and size (dw,
 * dh), as the forks train with it. This is the derivative, but for these:
 *
 * - By the size, it is twice the derivative of the iou and of giou's term.
 * - The power of diou's term is 1.
 * - By the middle, the change of s/d that comes from the box around both has the other sign.
 * - The factor a is a constant, and v's derivative lacks 1/(w^2 + h^2).
 * - If the boxes are apart, the iou's term is left out, except with IOU_PLAIN.
 */
dbox iou_gradient(box pred, box truth, IOU_KIND kind);

#endif
