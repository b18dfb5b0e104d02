/* layers/heads/iou.h: measures of the overlap of two boxes (IoU, GIoU, DIoU, CIoU), and their
 * gradients, as Darknet's later forks compute them. */
#ifndef IOU_H
#define IOU_H
#include "box.h"
#include "darknet.h"

/* Return the overlap of boxes a and b, in any unit, by the measure `kind`:
 *
 * - plain: the IoU, intersection divided by union
 * - giou: iou - (C - U)/C, with the area U of the union, and the area C of the box around both
 * - diou: iou - (s/d)^.6, with the squared distance s of the centres, and the squared diagonal d of
 *   the box around both
 * - ciou: iou - s/d - a*v, with v = 4/pi^2 (difference of atan(width/height))^2 and a = v/(1 - iou
 *   + v)
 *
 * Other kinds count as plain. The box around both is the smallest. */
float box_iou_kind(box a, box b, IOU_KIND kind);

/* Return iou - (s/d)^power, with the s and d of diou (box_iou_kind). */
float box_less_distance(box a, box b, float power);

/* Return the gradient of box_iou_kind(pred, truth, kind) by pred's centre (dx, dy) and size (dw,
 * dh), as the forks compute it. It differs from the exact gradient:
 *
 * - In dw and dh, the terms of the IoU and of giou are twice the exact ones.
 * - The power of diou's term is 1, not .6.
 * - In dx and dy, the part of s/d that comes from d has the wrong sign.
 * - The factor a counts as a constant, and the derivative of v lacks 1/(w^2 + h^2).
 * - If the boxes do not overlap, the IoU's term is left out, except with IOU_PLAIN. */
dbox iou_gradient(box pred, box truth, IOU_KIND kind);

#endif
