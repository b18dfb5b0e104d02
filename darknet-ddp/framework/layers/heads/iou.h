/* layers/heads/iou.h: measures of the overlap of two boxes, and their gradients, as Darknet's later
 * forks train with them. */
#ifndef IOU_H
#define IOU_H
#include "box.h"
#include "darknet.h"

/* Return the overlap of boxes a and b by the measure `kind`, as the forks compute it:
 *
 * - plain: the IoU, intersection by union
 * - giou: iou - (C - U)/C, with the union U, and the area C of the smallest box around both
 * - diou: iou - (s/d)^.6, with the squared distance s of the centres, and the square d of the
 *   diagonal of the smallest box around both
 * - ciou: iou - s/d - a*v, with v = 4/pi^2 (difference of atan(width/height))^2 and a = v/(1 - iou
 *   + v)
 *
 * Other kinds count as plain. Boxes may have any unit, the same for both. */
float box_iou_kind(box a, box b, IOU_KIND kind);

/* Return iou - (s/d)^power, with diou's s and d (box_iou_kind): less if the centres are apart. */
float box_less_distance(box a, box b, float power);

/* Return the gradient of box_iou_kind(pred, truth, kind) by pred's centre (dx, dy) and size (dw,
 * dh), as the forks train with it. It differs from the derivative:
 *
 * - By the size, the terms of the iou and of giou are twice the derivative.
 * - The power of diou's term is 1, not .6.
 * - By the centre, the change of d in s/d has the wrong sign.
 * - The factor a counts as a constant, and v's derivative lacks 1/(w^2 + h^2).
 * - If the boxes are apart, the iou's term is left out, except with IOU_PLAIN. */
dbox iou_gradient(box pred, box truth, IOU_KIND kind);

#endif
