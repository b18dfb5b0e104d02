/* core/layer_profile.h: how long each layer of a network computes, measured or made up, in a file.
 *
 * The file is text, a line a layer, its columns separated by tabs; lines that begin with # are
 * comments. So the times of a GPU, or of one that nobody has yet, can be written by hand.
 */
#ifndef DDP_CORE_LAYER_PROFILE_H
#define DDP_CORE_LAYER_PROFILE_H

#include "base/status.h"

#include <stdio.h>

/* Seconds of one mini-batch on one rank, without communication. */
typedef struct ddp_layer_times {
    double forward;
    double gradients; /* backward pass, until the layer's gradients are final */
    double rest;      /* backward pass, after that */
    double update;    /* once a step */
} ddp_layer_times;

typedef struct ddp_layer_profile {
    int layers;
    int on_gpu;             /* a GPU computed: communication took no time from it */
    int images;             /* in a mini-batch */
    ddp_layer_times *times; /* layers of them */
} ddp_layer_profile;

/* Make a profile with all times 0. Release it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_layer_profile_init(ddp_layer_profile *p, int layers, ddp_error *err) DDP_MUST_CHECK;
void ddp_layer_profile_release(ddp_layer_profile *p);

/* Return the seconds of all layers: of a mini-batch forward, backward, and of a step's update. */
double ddp_layer_profile_forward(const ddp_layer_profile *p);
double ddp_layer_profile_backward(const ddp_layer_profile *p);
double ddp_layer_profile_update(const ddp_layer_profile *p);

/* Write the profile. of: a comment on its origin ("resnet50.cfg, 128x128, by rank 0 of 1").
 * kinds[i]: layer i's type. */
void ddp_layer_profile_write(FILE *out, const ddp_layer_profile *p, const char *of,
                             const char *const *kinds);

/* Read the profile of a network of `layers` layers. Release *p, which is set in any case. Fails
 * with DDP_ERR_IO (no such file), DDP_ERR_NOMEM, and DDP_ERR_USAGE with the line in the text:
 * another number of layers, a malformed line, or a time below 0. */
ddp_status ddp_layer_profile_read(ddp_layer_profile *p, const char *path, int layers,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
