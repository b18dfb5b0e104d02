#ifndef ANCHORS_H
#define ANCHORS_H

/*
 * Sort n boxes, of width and height each, into k clusters by their overlap about the same middle
 * (k-means, the best of several starts, which depend on seed alone). anchors: k widths and heights,
 * smallest area first. Returns the mean overlap of the boxes with the best anchor of each. k <= n.
 */
double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors);

/*
 * Make anchors whole pixels, at least one, as a cfg has them. pixel: its width and height in the
 * unit of boxes. Returns the mean overlap as find_anchors does, of what the anchors are then.
 */
double round_anchors(const float *boxes, int n, int k, const float pixel[2], float *anchors);

/*
 * The shares of the input's width and height that a picture of w x h pixels takes which keeps its
 * aspect and fits in, as Darknet's letterbox_image makes it: of one side all. Where a size is 0,
 * not known, of both.
 */
void letter_box_shares(int w, int h, const int input[2], float shares[2]);

#endif
