/* layers/heads/best_box.h: lines that the detector's test prints if it found no box in a picture,
 * or boxes with NaN or infinity. */
#ifndef DDP_LAYERS_HEADS_BEST_BOX_H
#define DDP_LAYERS_HEADS_BEST_BOX_H

#include "darknet.h"

/* Return a threshold that shows a box of score x (above 0): a number just below x, of few
 * digits. */
double threshold_below(double x);

/* If no score of dets[0..n) is above thresh (0 to 1), print a line on standard output. It names the
 * class with the highest score of all boxes, and a threshold that shows it. Call after net's
 * forward pass for picture im. `dets`: boxes that get_network_boxes has returned for thresh.
 * `hier`: its parameter. `names`: the classes' names. */
void say_if_nothing_found(network *net, image im, const detection *dets, int n, float thresh,
                          float hier, char **names);

/* Print on standard output how many of dets[0..n) are not finite, if any. A box counts if one of
 * its scores is not. It also counts if a score is above thresh and x, y, w or h is not finite. */
void say_if_not_finite(const detection *dets, int n, float thresh);

#endif
