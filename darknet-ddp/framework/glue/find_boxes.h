/* glue/find_boxes.h: reads a detector's boxes of a picture from the network's output. */
#ifndef DDP_GLUE_FIND_BOXES_H
#define DDP_GLUE_FIND_BOXES_H

#include "eval/detections.h"
#include "glue/network.h"

typedef struct ddp_find_rules {
    float least;     /* score, 0 to 1, up to which boxes are left out */
    float hierarchy; /* tree of classes: a finer class is chosen if its probability is above this */
    /* overlap of two boxes of a class, 0 to 1, measured as nms_kind= says: if it is larger, the
     * less likely box is left out; 0: none is */
    float overlap;
    int classes; /* number of the network's classes; with `map`, its length instead */
    int *map; /* map[i]: node of class i in a tree of classes; 200 entries or more; NULL: no tree */
} ddp_find_rules;

/* Return how many classes a detector has; 0: net is no detector. */
int ddp_find_classes(const network *net);

/* Call found(ctx, d) for each box and class that net, a detector with batch 1, has found in its
 * last forward pass. Returns how many pairs of box and class were left out: a number not finite.
 *   width, height   size of the picture in pixels
 *   d               valid during the call; d->box in fractions of the picture, d->picture 0 */
size_t ddp_find_boxes(network *net, int width, int height, const ddp_find_rules *rules,
                      void (*found)(void *ctx, const ddp_detection *d), void *ctx);

#endif
