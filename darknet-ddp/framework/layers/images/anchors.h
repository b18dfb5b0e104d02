/* layers/images/anchors.h: finds a detector's anchors by the sizes of the labelled boxes. */
#ifndef ANCHORS_H
#define ANCHORS_H

/* Find k anchors for n boxes by k-means, 1 <= k <= n, with distance 1 - IoU of boxes about one
 * centre. Keep the best of several starts, which `seed` decides. `boxes`: n widths and heights, in
 * any unit. Write k widths and heights to anchors, the smallest area first. Return the mean IoU of
 * a box with its best anchor. */
double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors);

/* Round the widths and heights of k anchors, in place, to whole pixels, at least one. A pixel is
 * pixel[0] wide and pixel[1] high in the unit of boxes and anchors. Return the mean IoU of the n
 * boxes with their best rounded anchors. */
double round_anchors(const float *boxes, int n, int k, const float pixel[2], float *anchors);

/* Write to shares which fractions of the input's width and height a picture of w x h pixels fills,
 * if it is fitted in with its aspect kept (letterbox_image). `input`: width and height in pixels.
 * One fraction is 1. Both are 1 if a size is 0. */
void letter_box_shares(int w, int h, const int input[2], float shares[2]);

#endif
