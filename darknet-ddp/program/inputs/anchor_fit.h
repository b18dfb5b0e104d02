/* inputs/anchor_fit.h: finds anchors that fit the boxes of the labels, and how much better they fit
 * than the cfg's. */
#ifndef DDP_INPUTS_ANCHOR_FIT_H
#define DDP_INPUTS_ANCHOR_FIT_H

#include "inputs/scan_data.h"

/* Anchors that fit better than the cfg's. All zero: none were looked for. */
typedef struct ddp_anchor_fit {
    double cfgs_iou,
        iou;          /* mean over boxes of the best IoU, with the cfg's anchors and with these */
    int count;        /* number of anchors, which is the cfg's */
    uint32_t sampled; /* number of boxes that were used; 0: all */
    float anchors[2 * DDP_ANCHORS_MOST]; /* width and height, pixels of the network's input */
} ddp_anchor_fit;

/* Find the anchors that `detector calc_anchors` would find for the boxes that were counted in c.
 * Returns 1 if these fit so much better than the cfg's that a user should know: by 0.05 of IoU,
 * with at least 20 pictures. */
int ddp_anchor_fit_find(ddp_anchor_fit *out, const ddp_scan_data *c);

#endif
