/* glue/validate_share.h: computes one rank's share of the pictures of a validation: rank r of N has
 * pictures r, r + N, ... of the set. Each picture is loaded while the network computes the one
 * before it. */
#ifndef DDP_GLUE_VALIDATE_SHARE_H
#define DDP_GLUE_VALIDATE_SHARE_H

#include "glue/validate.h"
#include "layers/inference/plan.h"
#include "samples/picture_loader.h"

typedef struct ddp_picture_share {
    ddp_group *group;
    network *net;
    const ddp_validation_set *set;
    /* listener->unreadable is called; NULL: nothing is called */
    const ddp_validation_listener *listener;
    ddp_picture_fit fit; /* brings a picture to the input's size */
    /* Predict picture i of the set by inference_predict(plan, ...), and compare the result with the
     * picture's labels. If the labels cannot be read, write a sentence to picture->why. */
    void (*measure)(void *ctx, const struct ddp_picture_share *s, inference_plan *plan, size_t i,
                    ddp_picture *picture);
    void *ctx; /* first argument of `measure` */
} ddp_picture_share;

/* Call s->measure for each picture of this rank's share that can be read. If a picture or its
 * labels cannot be read, call the listener, once a run for each picture. Returns how many such
 * pictures there are. Meanwhile the network has batch 1 and the set's size. */
uint64_t ddp_picture_share_measure(const ddp_picture_share *s);

#endif
