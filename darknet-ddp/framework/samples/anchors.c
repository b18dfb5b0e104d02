#include "samples/anchors.h"

#include <layers/images/anchors.h>

double ddp_anchors_find(const float *boxes, int count, int k, const int input[2], float *anchors)
{
    enum { SEED = 1 }; /* calc_anchors' own */
    const float pixel[2] = {1 / (float)input[0], 1 / (float)input[1]};
    double iou;

    (void)find_anchors(boxes, count, k, SEED, anchors);
    iou = round_anchors(boxes, count, k, pixel, anchors);
    for (int i = 0; i < 2 * k; i++)
        anchors[i] *= (float)input[i % 2];
    return iou;
}

void ddp_letter_box_shares(int width, int height, const int input[2], float shares[2])
{
    letter_box_shares(width, height, input, shares);
}
