/* samples/anchors.h: anchors that fit boxes, as `darknet detector calc_anchors` finds them. */
#ifndef DDP_SAMPLES_ANCHORS_H
#define DDP_SAMPLES_ANCHORS_H

/* Find k anchors for boxes, 1 <= k <= count. Return the mean IoU of each box with its best one.
 *   boxes[0..2 * count)  width and height of each, fractions of a network's input
 *   input                width and height of that input, 1 pixel or more
 *   anchors[0..2 * k)    width and height of each in whole pixels, sorted by area before rounding
 */
double ddp_anchors_find(const float *boxes, int count, int k, const int input[2], float *anchors);

/* Write to shares the fractions of the network's width and height that a picture of width x height
 * pixels takes if it keeps its aspect (glue/cfg.h). `input`: the network's size, in pixels. Both
 * are 1 if a size is 0. */
void ddp_letter_box_shares(int width, int height, const int input[2], float shares[2]);

#endif
