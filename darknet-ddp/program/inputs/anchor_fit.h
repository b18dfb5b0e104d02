/* inputs/anchor_fit.h: finds anchors that fit the boxes of the labels, and how much better they fit
 * than the cfg's. */
#ifndef DDP_INPUTS_ANCHOR_FIT_H
#define DDP_INPUTS_ANCHOR_FIT_H

#include "inputs/scan_data.h"

/* Anchors found for the boxes, and how well they fit. All zero: none were looked for. */
typedef struct ddp_anchor_fit {
    double cfgs_iou;  /* mean over boxes of the IoU with the best of the cfg's anchors */
    double iou;       /* mean over boxes of the IoU with the best of these anchors */
    int count;        /* number of anchors: as many as the cfg has */
    uint32_t sampled; /* boxes in the sample that was used; 0: all boxes were */
    float anchors[2 * DDP_ANCHORS_MOST]; /* width and height, pixels of the network's input */
} ddp_anchor_fit;

/* Find the anchors that `detector calc_anchors` would find for the boxes that were counted in c.
 * Returns 1 if a user should know of the anchors: there are 20 pictures or more, and out->iou is
 * above out->cfgs_iou by more than 0.05. Else returns 0. *out is all zero if c has no anchors or
 * no input size of a cfg, or fewer boxes than anchors. */
int ddp_anchor_fit_find(ddp_anchor_fit *out, const ddp_scan_data *c);

#endif
