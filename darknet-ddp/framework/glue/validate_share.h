/* glue/validate_share.h: a rank's share of the pictures of a validation, each loaded while the one
 * before is computed. */
#ifndef DDP_GLUE_VALIDATE_SHARE_H
#define DDP_GLUE_VALIDATE_SHARE_H

#include "glue/validate.h"
#include "samples/picture_loader.h"

typedef struct ddp_share {
    ddp_group *group;
    network *net;
    const ddp_validation_set *set;
    const ddp_validation_listener *listener;
    ddp_picture_fit fit;
    /* At picture i. Sets its why where its truth cannot be read. */
    void (*look)(void *ctx, const struct ddp_share *s, size_t i, ddp_picture *picture);
    void *ctx;
} ddp_share;

/* Look at each picture r, r + N, ... of rank r of N, with the network as it is for single pictures,
 * and then as it was. Tells the listener of each that cannot be read, and returns how many cannot.
 */
uint64_t ddp_share_look(const ddp_share *s);

/* Did it go well on all ranks? A rank that failed must not leave the others waiting. Blocks.
 * Returns st, or DDP_ERR_IO where another rank failed, or DDP_ERR_COMM. */
ddp_status ddp_share_agree(ddp_group *group, ddp_status st, ddp_error *err) DDP_MUST_CHECK;

#endif
