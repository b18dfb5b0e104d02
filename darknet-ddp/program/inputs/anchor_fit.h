/* inputs/anchor_fit.h: how well the cfg's anchors fit boxes, and which would fit better. */
#ifndef DDP_INPUTS_ANCHOR_FIT_H
#define DDP_INPUTS_ANCHOR_FIT_H

#include "inputs/scan_data.h"

/* How well anchors fit. An IoU here is the mean over boxes of the IoU with the best anchor, 0 to 1.
 * All zero: no anchors were looked for. */
typedef struct ddp_anchor_fit {
    double cfgs_iou, iou; /* IoU of the cfg's anchors, and of `anchors` */
    int count;            /* how many anchors the cfg has */
    uint32_t sampled;     /* boxes among which anchors were looked for; 0: among all */
    float anchors[2 * DDP_ANCHORS_MOST]; /* width and height, pixels of the network's input */
} ddp_anchor_fit;

/* Find the anchors that `detector calc_anchors` would find for the boxes that c has looked at. The
 * network's size is that of the cfg or of c->values, and pictures are placed as the cfg says.
 * Returns 1 if the anchors found fit so much better than the cfg's (0.05 of IoU, from 20 pictures
 * on) that a line should tell. */
int ddp_anchor_fit_find(ddp_anchor_fit *out, const ddp_scan_data *c);

#endif
