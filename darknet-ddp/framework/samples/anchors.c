#include "samples/anchors.h"

#include <layers/images/anchors.h>

double ddp_anchors_find(const float *boxes, int count, int k, float *anchors)
{
    enum { SEED = 1 }; /* calc_anchors' own */

    return find_anchors(boxes, count, k, SEED, anchors);
}

void ddp_letter_box_shares(int width, int height, const int input[2], float shares[2])
{
    letter_box_shares(width, height, input, shares);
}
