/* glue/validate_share.h: a rank's share of a validation: each picture loads while the last is
 * computed. */
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
    /* Called for each picture i that could be read. Sets picture->why if its labels cannot. */
    void (*look)(void *ctx, const struct ddp_share *s, size_t i, ddp_picture *picture);
    void *ctx;
    /* in the s that look gets, for inference_predict: the plan of net; may be NULL */
    inference_plan *plan;
} ddp_share;

/* Load each picture r, r + N, ... of the set, on rank r of N, and call s->look for it. Meanwhile
 * the network has batch 1 and the set's size; then it is as before. Tells the listener of each
 * picture that cannot be read, once a run. Returns how many cannot. */
uint64_t ddp_share_look(const ddp_share *s);

/* Return st if it is an error. Else return DDP_ERR_IO if st is an error on another rank, so that no
 * rank waits for a failed one. Collective. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_share_agree(ddp_group *group, ddp_status st, ddp_error *err) DDP_MUST_CHECK;

#endif
