#include "layers/heads/best_box.h"

#include <math.h>
#include <stdio.h>

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

/* Below x, with as few digits as can be. */
static double round_down(double x)
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
               round_down(most));
    else
        printf("and no box at all\n");
    free_detections(every, all);
}
