/* layers/images/anchors.h: finds a detector's anchors by the sizes of the labelled boxes. */
#ifndef ANCHORS_H
#define ANCHORS_H

/* Find k anchors for n boxes by k-means, with distance 1 - IoU of boxes about one centre, and keep
 * the best of several starts. Return the mean IoU of a box with its best anchor.
 *   boxes     n widths and heights above 0, in any unit
 *   k         1 to n
 *   seed      decides the starts
 *   anchors   gets k widths and heights, the smallest area first */
double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors);

/* Round the widths and heights of k anchors, in place, to whole pixels, at least one. Return the
 * mean IoU of the n boxes with their best rounded anchors.
 *   pixel   width and height of a pixel, in the unit of boxes and anchors */
double round_anchors(const float *boxes, int n, int k, const float pixel[2], float *anchors);

/* Write to shares which fractions of the input's width and height a picture of w x h pixels fills
 * in a letter box. At least one is 1. If a size is 0, both are. `input`: width, height in
 * pixels. */
void letter_box_shares(int w, int h, const int input[2], float shares[2]);

#endif
