/* samples/anchors.h: computes anchors that fit the boxes of a data set, as `darknet detector
 * calc_anchors` does. Also computes how much of a letter box a picture fills. */
#ifndef DDP_SAMPLES_ANCHORS_H
#define DDP_SAMPLES_ANCHORS_H

/* Write the k anchors that fit `count` boxes best, 1 <= k <= count. Returns the mean over
 * boxes of a box's IoU with its best anchor.
 *   boxes     2 * count floats: width and height of each box, above 0, in fractions of the input
 *   input     width and height of the network's input, in pixels
 *   anchors   becomes 2 * k floats: width and height of each anchor in whole pixels, 1 or more;
 *             sorted by area before rounding */
double ddp_anchors_find(const float *boxes, int count, int k, const int input[2], float *anchors);

/* Compute which fractions of a network's width and height a picture of width x height pixels fills,
 * if it keeps its aspect. Both are 1 if one of these sizes is 0.
 *   input    width and height of the network's input, in pixels
 *   shares   becomes the two fractions */
void ddp_letter_box_shares(int width, int height, const int input[2], float shares[2]);

#endif
