/* layers/heads/best_box.h: lines that a detector prints if it has found nothing in a picture, or
 * boxes that are not finite. */
#ifndef DDP_LAYERS_HEADS_BEST_BOX_H
#define DDP_LAYERS_HEADS_BEST_BOX_H

#include "darknet.h"

/* Return a number just below x, above 0, with as few digits as can be: a threshold that shows a box
   of this score. */
double threshold_below(double x);

/* If none of dets[0..n) has a class likelier than thresh, print a line on standard output. It names
 * the likeliest class of all boxes, and a threshold that would show it. `dets`: boxes of picture im
 * after a forward pass of net. `hier`: as for get_network_boxes. `names`: of classes. */
void say_if_nothing_found(network *net, image im, const detection *dets, int n, float thresh,
                          float hier, char **names);

/* Print on standard output how many of dets[0..n) are not finite, if any are. Counted are boxes
 * with a class likelier than thresh, or a likelihood that is not finite. */
void say_if_not_finite(const detection *dets, int n, float thresh);

#endif
