/* samples/anchors.h: anchors that fit boxes, as `darknet detector calc_anchors` finds them. */
#ifndef DDP_SAMPLES_ANCHORS_H
#define DDP_SAMPLES_ANCHORS_H

/* boxes[0..2 * count): width and height of each, fractions of a network's input; anchors has room
 * for 2 * k, in whole pixels of it, the smallest first. Returns the mean IoU of the boxes with the
 * best of these anchors for each. k <= count. */
double ddp_anchors_find(const float *boxes, int count, int k, const int input[2], float *anchors);

/* The shares of a network's input, width and height, that a picture of width x height pixels takes
 * which keeps its aspect (glue/cfg.h); of both all where a size is 0. */
void ddp_letter_box_shares(int width, int height, const int input[2], float shares[2]);

#endif
