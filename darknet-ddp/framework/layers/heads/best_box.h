/* layers/heads/best_box.h: prints a line if a detector found nothing above its threshold in a
 * picture, or boxes with NaN or infinity. */
#ifndef DDP_LAYERS_HEADS_BEST_BOX_H
#define DDP_LAYERS_HEADS_BEST_BOX_H

#include "darknet.h"

/* Return a number of few digits just below x: a threshold that shows a box of score x (above 0). */
double threshold_below(double x);

/* If no score of dets[0..n) is above thresh, print the class and score of the best box, and a
 * threshold that shows it, or that there is no box. Call after net's forward pass for picture im.
 *   dets     boxes that get_network_boxes has returned for thresh, 0 to 1, and hier
 *   names    names of the classes */
void say_if_nothing_found(network *net, image im, const detection *dets, int n, float thresh,
                          float hier, char **names);

/* Print how many boxes of dets[0..n) are not finite; nothing if there are none. A box counts if one
 * of its scores is not finite. It also counts if a score is above thresh, and x, y, w or h is not
 * finite. */
void say_if_not_finite(const detection *dets, int n, float thresh);

#endif
