/* trainer/head_sums.h: adds up the loss and IoU of each head (a [yolo] or [region] layer) over the
 * mini-batches of a step, for this rank's images. */
#ifndef DDP_TRAINER_HEAD_SUMS_H
#define DDP_TRAINER_HEAD_SUMS_H

#include "glue/network.h"

struct head_figures; /* Darknet's struct of a head's loss and IoU in one mini-batch */

/* A head's figures in a step, means over this rank's images. */
typedef struct ddp_head_figures {
    double box, object, category; /* the three parts of the head's loss */
    double iou;                   /* mean IoU of the boxes that the head was to find; NaN: no box */
} ddp_head_figures;

/* Sums over a step's mini-batches so far. */
typedef struct ddp_head_sums {
    ddp_head_layers heads;
    struct {
        double box, object, category, iou;
        int boxes;     /* boxes that the head was to find */
    } sums[DDP_HEADS]; /* sums[i]: of layer heads.layers[i] */
} ddp_head_sums;

/* Set *s to sums of zero for the heads of net (ddp_network_heads). */
void ddp_head_sums_init(ddp_head_sums *s, const network *net);

/* Add what layer `layer` has computed for a mini-batch. Does nothing if it is not in s->heads. */
void ddp_head_sums_add_mini_batch(ddp_head_sums *s, int layer, const struct head_figures *figures);

/* Write the step's figures of each head to out[0..DDP_HEADS), zeros behind the last head. Then set
 * all sums to zero. images: how many images this rank trained in the step, 1 or more. */
void ddp_head_sums_take_figures(ddp_head_sums *s, double images, ddp_head_figures *out);

#endif
