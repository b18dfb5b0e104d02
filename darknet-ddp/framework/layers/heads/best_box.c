#include "layers/heads/best_box.h"
#include "layers/heads/iou_formulas.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The class of the likeliest box, and *most, how likely it is; -1: there is none. */
static int likeliest(const detection *dets, int n, float *most)
{
    int best = -1;

    *most = 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < dets[i].classes; c++)
            if (dets[i].prob[c] > *most) {
                *most = dets[i].prob[c];
                best = c;
            }
    return best;
}

double threshold_below(double x)
{
    double unit = pow(10, floor(log10(x)));
    double below = floor(x / unit) * unit;

    return below < x ? below : x - unit / 10;
}

void say_if_nothing_found(network *net, image im, const detection *dets, int n, float thresh,
                          float hier, char **names)
{
    float most;
    int all = 0, best = likeliest(dets, n, &most);
    detection *every;

    if (best >= 0 && most > thresh)
        return;
    every = get_network_boxes(net, im.w, im.h, 0, hier, 0, 1, &all);
    best = likeliest(every, all, &most);
    printf("nothing above %g%%; ", 100 * thresh);
    if (best >= 0)
        printf("best: %s %.3g%%; -thresh %.3g shows it\n", names[best], 100 * most,
               threshold_below(most));
    else
        printf("and no box at all\n");
    free_detections(every, all);
}

/* By its bits: layers are compiled with -Ofast, which takes every number for a finite one. */
static int is_finite(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7f800000U) != 0x7f800000U;
}

/* Would it be found, if it were finite? NaN is above no threshold. */
static int is_broken(const detection *d, float thresh)
{
    const box *b = &d->bbox;
    float most;

    for (int c = 0; c < d->classes; c++)
        if (!is_finite(d->prob[c]))
            return 1;
    return likeliest(d, 1, &most) >= 0 && most > thresh
           && !(is_finite(b->x) && is_finite(b->y) && is_finite(b->w) && is_finite(b->h));
}

void say_if_not_finite(const detection *dets, int n, float thresh)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += is_broken(&dets[i], thresh);
    if (count > 0)
        printf("%d box%s not finite: the weights give numbers that are too large\n", count,
               count == 1 ? " is" : "es are");
}
