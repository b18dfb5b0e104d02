/* layers/heads/iou_formulas.h: the functions of iou.h, for CPU and GPU (formulas.h). */
#ifndef IOU_FORMULAS_H
#define IOU_FORMULAS_H
#include "layers/heads/formulas.h"
#include "layers/heads/iou.h"
#include <math.h>

static const float ASPECT = (float)(4 / (M_PI * M_PI));

typedef struct {
    float left, right, top, bottom;
} edges;

/* Derivatives of a value by each edge of the predicted box. */
typedef edges edge_gradient;

FORMULA edges edges_of(box b)
{
    edges e = {b.x - b.w / 2, b.x + b.w / 2, b.y - b.h / 2, b.y + b.h / 2};
    return e;
}

FORMULA box around(box a, box b)
{
    edges p = edges_of(a), t = edges_of(b);
    float left = fminf(p.left, t.left), right = fmaxf(p.right, t.right);
    float top = fminf(p.top, t.top), bottom = fmaxf(p.bottom, t.bottom);
    box c = {(left + right) / 2, (top + bottom) / 2, right - left, bottom - top};
    return c;
}

FORMULA float squared_distance(box a, box b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

FORMULA float aspect_difference(box a, box b)
{
    return atanf(a.w / a.h) - atanf(b.w / b.h);
}

FORMULA float aspect_weight(float v, float iou)
{
    return v / (1 - iou + v + .000001f);
}

PUBLIC_FORMULA float box_less_distance(box a, box b, float power)
{
    box c = around(a, b);
    float diagonal = c.w * c.w + c.h * c.h;
    if (diagonal == 0)
        return box_iou(a, b);
    return box_iou(a, b) - powf(squared_distance(a, b) / diagonal, power);
}

PUBLIC_FORMULA float box_iou_kind(box a, box b, IOU_KIND kind)
{
    float iou = box_iou(a, b);
    box c = around(a, b);
    if (kind == IOU_GIOU) {
        float area = c.w * c.h;
        if (area == 0)
            return iou;
        float together = a.w * a.h + b.w * b.h - iou * (a.w * a.h + b.w * b.h) / (1 + iou);
        return iou - (area - together) / area;
    }
    if (kind != IOU_DIOU && kind != IOU_CIOU)
        return iou;
    float diagonal = c.w * c.w + c.h * c.h;
    if (diagonal == 0)
        return iou;
    float apart = squared_distance(a, b) / diagonal;
    if (kind == IOU_DIOU)
        return iou - powf(apart, .6f);
    float angle = aspect_difference(b, a);
    float v = ASPECT * angle * angle;
    return iou - apart - aspect_weight(v, iou) * v;
}

/* Intersection and union of the predicted box and the truth. */
typedef struct {
    /* width and height of the intersection; the boxes overlap only if both are above 0 */
    float overlap_w, overlap_h;
    float overlap, together;             /* areas of intersection and union, if boxes overlap */
    edge_gradient d_overlap, d_together; /* derivatives of both areas */
} overlap_change;

FORMULA overlap_change get_overlap_change(box pred, box truth)
{
    edges p = edges_of(pred), t = edges_of(truth);
    overlap_change o;
    o.overlap_w = fminf(p.right, t.right) - fmaxf(p.left, t.left);
    o.overlap_h = fminf(p.bottom, t.bottom) - fmaxf(p.top, t.top);
    o.overlap = o.overlap_w * o.overlap_h;
    o.together = pred.w * pred.h + truth.w * truth.h - o.overlap;
    o.d_overlap.left = p.left > t.left ? -o.overlap_h : 0;
    o.d_overlap.right = p.right < t.right ? o.overlap_h : 0;
    o.d_overlap.top = p.top > t.top ? -o.overlap_w : 0;
    o.d_overlap.bottom = p.bottom < t.bottom ? o.overlap_w : 0;
    o.d_together.left = -pred.h - o.d_overlap.left;
    o.d_together.right = pred.h - o.d_overlap.right;
    o.d_together.top = -pred.w - o.d_overlap.top;
    o.d_together.bottom = pred.w - o.d_overlap.bottom;
    return o;
}

FORMULA edge_gradient quotient_gradient(float a, float b, edge_gradient da, edge_gradient db)
{
    edge_gradient q = {0};
    if (!(b > 0))
        return q;
    q.left = (da.left * b - a * db.left) / (b * b);
    q.right = (da.right * b - a * db.right) / (b * b);
    q.top = (da.top * b - a * db.top) / (b * b);
    q.bottom = (da.bottom * b - a * db.bottom) / (b * b);
    return q;
}

/* Return the derivatives of U/C (iou.h), a term of giou, by the edges of pred; 0 if C is 0. U is
 * o.together, which is wrong if the boxes are apart. `o`: get_overlap_change(pred, truth). */
FORMULA edge_gradient giou_gradient(box pred, box truth, overlap_change o)
{
    edges p = edges_of(pred), t = edges_of(truth);
    box c = around(pred, truth);
    edge_gradient d_area = {0};
    if (p.left < t.left)
        d_area.left = -c.h;
    if (p.right > t.right)
        d_area.right = c.h;
    if (p.top < t.top)
        d_area.top = -c.w;
    if (p.bottom > t.bottom)
        d_area.bottom = c.w;
    return quotient_gradient(o.together, c.w * c.h, o.d_together, d_area);
}

/* Add g, the gradient of a term by the edges of the predicted box, to *d. dw and dh get twice the
 * exact gradient, as in Darknet's forks. */
FORMULA void add_edges(dbox *d, edge_gradient g)
{
    d->dx += g.left + g.right;
    d->dy += g.top + g.bottom;
    d->dw += g.right - g.left;
    d->dh += g.bottom - g.top;
}

/* Add the gradient of -s/d, a term of ciou (iou.h), to the gradient *d. The forks use it for diou,
 * too. As in the forks, what dx and dy get of the diagonal's change has the wrong sign. */
FORMULA void add_distance_gradient(dbox *d, box pred, box truth)
{
    edges p = edges_of(pred), t = edges_of(truth);
    box c = around(pred, truth);
    float diagonal = c.w * c.w + c.h * c.h;
    if (!(diagonal > 0))
        return;
    // 1: this edge of pred is an edge of the box around both
    int left = p.left < t.left;
    int right = p.right > t.right;
    int top = p.top<t.top, bottom = p.bottom> t.bottom;
    float s = squared_distance(pred, truth);
    float by_w = 2 * c.w * s / (diagonal * diagonal), by_h = 2 * c.h * s / (diagonal * diagonal);
    d->dx += 2 * (truth.x - pred.x) / diagonal - by_w * (float)(right - left);
    d->dy += 2 * (truth.y - pred.y) / diagonal - by_h * (float)(bottom - top);
    d->dw += by_w * (float)(right + left) / 2;
    d->dh += by_h * (float)(bottom + top) / 2;
}

/* Add the gradient of -a*v (iou.h) to *d. a counts as a constant, and the derivative of v lacks the
 * factor 1/(w^2 + h^2). `iou`: the boxes' intersection / union. */
FORMULA void add_aspect_gradient(dbox *d, box pred, box truth, float iou)
{
    float angle = aspect_difference(truth, pred);
    float weight = aspect_weight(ASPECT * angle * angle, iou);
    d->dw += weight * 2 * ASPECT * angle * pred.h;
    d->dh -= weight * 2 * ASPECT * angle * pred.w;
}

PUBLIC_FORMULA dbox iou_gradient(box pred, box truth, IOU_KIND kind)
{
    dbox d = {0};
    overlap_change o = get_overlap_change(pred, truth);
    int apart = o.overlap_w <= 0 || o.overlap_h <= 0;
    if (kind == IOU_PLAIN || !apart) // the forks leave the IoU's term out if boxes are apart
        add_edges(&d, quotient_gradient(o.overlap, o.together, o.d_overlap, o.d_together));
    if (kind == IOU_GIOU)
        add_edges(&d, giou_gradient(pred, truth, o));
    if (kind == IOU_DIOU || kind == IOU_CIOU)
        add_distance_gradient(&d, pred, truth);
    if (kind == IOU_CIOU)
        add_aspect_gradient(&d, pred, truth, o.overlap / o.together);
    return d;
}

#endif
