/* layers/heads/iou.h: measures of the overlap of two boxes, and their gradients, as Darknet's later
 * forks compute them.
 *
 *   IOU_PLAIN   iou: the area of the intersection, divided by the area U of the union
 *   IOU_GIOU    iou - (C - U)/C
 *   IOU_DIOU    iou - (s/d)^.6
 *   IOU_CIOU    iou - s/d - a*v, with a = v/(1 - iou + v + 1e-6)
 *
 * s is the squared distance of the centres. C is the area, and d the squared diagonal, of the
 * smallest box around both. If the divisor C or d is 0, the measure is iou. v is 4/pi^2 times the
 * squared difference of atan(width/height). */
#ifndef IOU_H
#define IOU_H
#include "box.h"
#include "darknet.h"

/* Return the overlap of boxes a and b, in any unit, by the measure `kind`. IOU_MSE, which is no
 * measure, counts as IOU_PLAIN. */
float box_iou_kind(box a, box b, IOU_KIND kind);

/* Return iou - (s/d)^power (head of this file) for boxes a and b; iou if d is 0. */
float box_less_distance(box a, box b, float power);

/* Return the gradient of box_iou_kind(pred, truth, kind) by pred's centre (dx, dy) and size (dw,
 * dh), as the forks compute it. It is not the exact one (iou_formulas.h). */
dbox iou_gradient(box pred, box truth, IOU_KIND kind);

#endif
