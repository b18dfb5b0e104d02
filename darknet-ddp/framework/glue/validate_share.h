/* glue/validate_share.h: a rank's share of a validation: each picture loads while the one
 * before it is computed. */
#ifndef DDP_GLUE_VALIDATE_SHARE_H
#define DDP_GLUE_VALIDATE_SHARE_H

#include "glue/validate.h"
#include "layers/inference/plan.h"
#include "samples/picture_loader.h"

typedef struct ddp_share {
    ddp_group *group;
    network *net;
    const ddp_validation_set *set;
    const ddp_validation_listener *listener; /* NULL: none */
    ddp_picture_fit fit;                     /* brings a picture to the input's size */
    /* Called for picture i of the set, if it could be read. Writes a sentence to picture->why if
     * the picture's labels cannot be read. */
    void (*look)(void *ctx, const struct ddp_share *s, size_t i, ddp_picture *picture);
    void *ctx;
    /* plan for inference_predict, set only in the *s that `look` gets; NULL: Darknet predicts */
    inference_plan *plan;
} ddp_share;

/* On rank r of N, load pictures r, r + N, ... of the set, and call s->look for each. Meanwhile the
 * network has batch 1 and the set's size; afterwards its own again. Tells the listener of pictures
 * that cannot be read, of each once in a run. Returns how many could not be read this time. */
uint64_t ddp_share_look(const ddp_share *s);

#endif
