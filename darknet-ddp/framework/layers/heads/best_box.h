/* layers/heads/best_box.h: what a detector says of a picture in which it has found
 * nothing, or what is no box. */
#ifndef DDP_LAYERS_HEADS_BEST_BOX_H
#define DDP_LAYERS_HEADS_BEST_BOX_H

#include "darknet.h"

/* Print a line on standard output if none of dets[0..n) is of a class that is likelier than thresh.
   It has the likeliest class that there was, and a threshold that would show it. The boxes dets are
   those of picture im, after a forward pass of net. hier: as for get_network_boxes. */
void say_if_nothing_found(network *net, image im, const detection *dets, int n, float thresh,
                          float hier, char **names);

/* If boxes are not finite, of a class likelier than thresh or one whose likelihood is not finite
   either: a line on standard output with their number. A picture cannot show them. */
void say_if_not_finite(const detection *dets, int n, float thresh);

#endif
