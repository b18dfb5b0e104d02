/* layers/heads/best_box.h: lines that a detector prints if it has found nothing in a picture, or
 * boxes that are not finite. */
#ifndef DDP_LAYERS_HEADS_BEST_BOX_H
#define DDP_LAYERS_HEADS_BEST_BOX_H

#include "darknet.h"

/* Return a number just below x, above 0, with as few digits as can be: a threshold that shows a box
   of this score. */
double threshold_below(double x);

/* If none of dets[0..n) has a class likelier than thresh (0 to 1), print a line on standard output.
 * It names the likeliest class of all boxes that net has found in picture im, and a threshold that
 * would show it. Call after net's forward pass of im. `dets`: the boxes that were found with
 * thresh. `hier`: as for get_network_boxes. `names`: the classes' names. */
void say_if_nothing_found(network *net, image im, const detection *dets, int n, float thresh,
                          float hier, char **names);

/* Print on standard output how many of dets[0..n) are not finite, if any are. A box counts if a
 * likelihood is not finite, or if its place or size is not and a class is likelier than thresh. */
void say_if_not_finite(const detection *dets, int n, float thresh);

#endif
