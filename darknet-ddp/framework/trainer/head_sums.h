/* trainer/head_sums.h: loss and IoU of a network's heads ([yolo] and [region] layers) for this
 * rank's images, added up over the mini-batches of a step. */
#ifndef DDP_TRAINER_HEAD_SUMS_H
#define DDP_TRAINER_HEAD_SUMS_H

#include "glue/network.h"

struct head_figures; /* Darknet's struct of a head's loss and IoU in one mini-batch */

/* A head's loss, in three parts, and its IoU, as means over this rank's part of a step. */
typedef struct ddp_head_figures {
    double box, object, category; /* parts of the head's loss, means over images */
    double iou;                   /* mean IoU of the boxes that the head was to find; NaN: no box */
} ddp_head_figures;

/* Loss and IoU added up over a step's mini-batches so far; of[i]: of layer heads.layers[i]. */
typedef struct ddp_head_sums {
    ddp_head_layers heads;
    struct {
        double box, object, category, iou;
        int boxes;
    } of[DDP_HEADS];
} ddp_head_sums;

/* Begin sums, all zero, for the heads of net (ddp_network_heads). */
void ddp_head_sums_init(ddp_head_sums *s, const network *net);

/* Add a mini-batch's loss and IoU, as layer `layer` has computed them, if it is one of the
 * heads. */
void ddp_head_sums_add_mini_batch(ddp_head_sums *s, int layer, const struct head_figures *figures);

/* Write the step's means to out[0..DDP_HEADS), zeros behind the last head, and set all sums to
 * zero. images: how many this rank had in the step, at least 1. */
void ddp_head_sums_take_figures(ddp_head_sums *s, double images, ddp_head_figures *out);

#endif
