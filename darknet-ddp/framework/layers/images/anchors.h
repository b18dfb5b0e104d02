#ifndef ANCHORS_H
#define ANCHORS_H

/*
 * Sort n boxes, of width and height each, into k clusters, k <= n, by their overlap about the same
 * middle. This is k-means; the best of several starts counts, which depend on seed alone. Writes k
 * widths and heights to anchors, smallest area first. Returns the mean overlap of the boxes with
 * the best anchor of each.
 */
double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors);

/*
 * Make anchors whole pixels, at least one, as a cfg has them. pixel: its width and height in the
 * unit of boxes. Returns the mean overlap as find_anchors does, of what the anchors are then.
 */
double round_anchors(const float *boxes, int n, int k, const float pixel[2], float *anchors);

/*
 * Write to shares which fractions of the input's width and height a picture takes. The picture has
 * w x h pixels, keeps its aspect and fits in, as in Darknet's letterbox_image. One of the fractions
 * is
 * 1. Both are 1 if a size is 0: not known.
 */
void letter_box_shares(int w, int h, const int input[2], float shares[2]);

#endif
