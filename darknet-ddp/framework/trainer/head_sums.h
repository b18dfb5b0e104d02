/* trainer/head_sums.h: what the heads of a network made of this rank's images, added up over the
 * mini-batches of a step. */
#ifndef DDP_TRAINER_HEAD_SUMS_H
#define DDP_TRAINER_HEAD_SUMS_H

#include "glue/network.h"

struct head_figures; /* Darknet's, of one mini-batch */

/* The figures of a head for this rank's images in a step. */
typedef struct ddp_head_figures {
    double box, object, category; /* parts of its loss, of an image */
    double iou; /* mean over the boxes that it was to find; NaN: there were none */
} ddp_head_figures;

typedef struct ddp_head_sums {
    ddp_head_layers heads;
    struct {
        double box, object, category, iou;
        int boxes;
    } of[DDP_HEADS];
} ddp_head_sums;

void ddp_head_sums_init(ddp_head_sums *s, const network *net);

/* The layer has computed a mini-batch. Nothing happens if it is none of the heads. */
void ddp_head_sums_add_mini_batch(ddp_head_sums *s, int layer, const struct head_figures *figures);

/* Write out[0..DDP_HEADS) of a step of so many images on this rank, and begin the next one. */
void ddp_head_sums_take_figures(ddp_head_sums *s, double images, ddp_head_figures *out);

#endif
