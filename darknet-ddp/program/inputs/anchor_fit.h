/* inputs/anchor_fit.h: do the cfg's anchors fit the boxes that were looked at, and which would? */
#ifndef DDP_INPUTS_ANCHOR_FIT_H
#define DDP_INPUTS_ANCHOR_FIT_H

#include "inputs/scan_data.h"

/* iou: the mean over boxes of the IoU with the best anchor, 0 to 1. All zero: none were looked for.
 */
typedef struct ddp_anchor_fit {
    double cfgs_iou, iou; /* of the cfg's anchors, and of those below */
    int count;            /* of anchors: as many as the cfg has */
    uint32_t sampled;     /* among how many boxes they were looked for; 0: among all */
    float anchors[2 * DDP_ANCHORS_MOST]; /* width and height, pixels of the network's input */
} ddp_anchor_fit;

/* Find the anchors that calc_anchors would find, at the cfg's size or that of c->values, and as the
 * cfg places pictures. Returns whether they fit so much better than the cfg's that it is worth a
 * word. */
int ddp_anchor_fit_find(ddp_anchor_fit *out, const ddp_scan_data *c);

#endif
