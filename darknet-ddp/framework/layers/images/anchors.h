#ifndef ANCHORS_H
#define ANCHORS_H

/*
 * Sort n boxes, of width and height each, into k clusters by their overlap about the same middle
 * (k-means, the best of several starts, which depend on seed alone). anchors: k widths and heights,
 * smallest area first. Returns the mean overlap of the boxes with the best anchor of each. k <= n.
 */
double find_anchors(const float *boxes, int n, int k, unsigned seed, float *anchors);

#endif
