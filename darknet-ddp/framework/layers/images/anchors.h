/* layers/images/anchors.h: anchors from the boxes of labels. */
#ifndef ANCHORS_H
#define ANCHORS_H

/* Find k anchors for n boxes by k-means, 1 <= k <= n. Each box belongs to the anchor with the
 * highest IoU, both about the same centre. `boxes`: n widths and heights in any unit. The best of
 * several starts counts; they depend on `seed` alone. Writes k widths and heights to anchors,
 * smallest area first. Returns the mean IoU of the boxes with the best anchor of each. */
double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors);

/* Round k anchors in place to whole pixels, at least one. They stay in the unit of boxes, in which
 * a pixel has width pixel[0] and height pixel[1]. boxes: n widths and heights; anchors: k. Returns
 * the mean IoU of the n boxes with the best rounded anchor of each. */
double round_anchors(const float *boxes, int n, int k, const float pixel[2], float *anchors);

/* Write to shares the fractions of the input's width and height that a picture takes when it is
 * fitted in with its aspect kept (letterbox_image). w, h: the picture's pixels. `input`: the
 * network's width and height in pixels. One fraction is 1; both are 1 if a size is 0. */
void letter_box_shares(int w, int h, const int input[2], float shares[2]);

#endif
