/* samples/anchors.h: anchors that fit boxes, as `darknet detector calc_anchors` finds them. */
#ifndef DDP_SAMPLES_ANCHORS_H
#define DDP_SAMPLES_ANCHORS_H

/* boxes[0..2 * count): width and height of each; anchors has room for 2 * k, the smallest first.
 * Returns the mean IoU of the boxes with the best anchor of each. k <= count. */
double ddp_anchors_find(const float *boxes, int count, int k, float *anchors);

#endif
