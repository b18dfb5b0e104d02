/* glue/find_boxes.h: what a detector has found in a picture, for validation and for prediction. */
#ifndef DDP_GLUE_FIND_BOXES_H
#define DDP_GLUE_FIND_BOXES_H

#include "eval/detections.h"
#include "glue/network.h"

typedef struct ddp_find_rules {
    float least;     /* boxes of this score or less are left out, from 0 to 1 */
    float hierarchy; /* tree of classes: probability, 0 to 1, above which a finer class counts */
    /* overlap, as nms_kind= measures it, above which the less likely of two boxes of a class goes;
     * 0: all stay */
    float overlap;
    int classes; /* number of classes told apart: length of `map` or, without it, the network's */
    int *map;    /* map[i]: node of class i in a tree of classes; NULL: no tree */
} ddp_find_rules;

/* Return how many classes net's last layer that finds boxes tells apart; 0: net is no detector. */
int ddp_find_classes(const network *net);

/* Call found(ctx, d) for each box of each class that net's last forward pass has found. net must be
 * a detector. Returns how many were left out because box or score is not finite; each class of a
 * box counts.
 *   width, height   the picture's, in pixels
 *   d               valid for the call; box in fractions of the picture; d->picture is 0 */
size_t ddp_find_boxes(network *net, int width, int height, const ddp_find_rules *rules,
                      void (*found)(void *ctx, const ddp_detection *d), void *ctx);

#endif
