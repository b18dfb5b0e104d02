/* layers/heads/box_formulas.h: functions of Darknet's box.c, for CPU and GPU (formulas.h). */
#ifndef BOX_FORMULAS_H
#define BOX_FORMULAS_H
#include "box.h"
#include "layers/heads/formulas.h"
#include <math.h>

PUBLIC_FORMULA box float_to_box(float *f, int stride)
{
    box b = {0};
    b.x = f[0];
    b.y = f[1 * stride];
    b.w = f[2 * stride];
    b.h = f[3 * stride];
    return b;
}

PUBLIC_FORMULA float overlap(float x1, float w1, float x2, float w2)
{
    float l1 = x1 - w1 / 2;
    float l2 = x2 - w2 / 2;
    float left = l1 > l2 ? l1 : l2;
    float r1 = x1 + w1 / 2;
    float r2 = x2 + w2 / 2;
    float right = r1 < r2 ? r1 : r2;
    return right - left;
}

PUBLIC_FORMULA float box_intersection(box a, box b)
{
    float w = overlap(a.x, a.w, b.x, b.w);
    float h = overlap(a.y, a.h, b.y, b.h);
    if (w < 0 || h < 0)
        return 0;
    float area = w * h;
    return area;
}

PUBLIC_FORMULA float box_union(box a, box b)
{
    float i = box_intersection(a, b);
    float u = a.w * a.h + b.w * b.h - i;
    return u;
}

PUBLIC_FORMULA float box_iou(box a, box b)
{
    return box_intersection(a, b) / box_union(a, b);
}

PUBLIC_FORMULA float box_rmse(box a, box b)
{
    return sqrt(pow(a.x - b.x, 2) + pow(a.y - b.y, 2) + pow(a.w - b.w, 2) + pow(a.h - b.h, 2));
}

#endif
