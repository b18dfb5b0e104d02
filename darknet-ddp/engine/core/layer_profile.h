/* core/layer_profile.h: how long each layer of a network computes, and a file of these times, from
 * which a run on other hosts is forecast.
 *
 * The file is text, so that the times of a GPU that nobody has yet can be written by hand. Its
 * first line begins with "# darknet-ddp profile"; other lines that begin with # are comments. A
 * line "images N" has the images of a mini-batch. A line "device gpu" or "device cpu" (the default)
 * says what was timed. Each layer has a line, in order: its index, and the seconds of
 * ddp_layer_times: forward, gradients, rest, update. */
#ifndef DDP_CORE_LAYER_PROFILE_H
#define DDP_CORE_LAYER_PROFILE_H

#include "base/status.h"

#include <stdio.h>

/* Times of one layer on one rank, without communication; all but `update` for one mini-batch. */
typedef struct ddp_layer_times {
    double forward;   /* seconds of the layer's forward pass */
    double gradients; /* seconds of the layer's backward pass until its gradients are final */
    double rest;      /* seconds of the layer's backward pass after its gradients are final */
    double update;    /* seconds of the layer's update, once a step */
} ddp_layer_times;

typedef struct ddp_layer_profile {
    int layers;
    int on_gpu; /* 1: times of a GPU, which communication does not slow down; 0: of a CPU */
    int images; /* images in a mini-batch */
    ddp_layer_times *times; /* one entry for each layer; ddp_layer_profile_release frees them */
} ddp_layer_profile;

/* Make a profile of `layers` layers, at least 1, with all times 0. Release it, also after a
 * failure. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_layer_profile_init(ddp_layer_profile *p, int layers, ddp_error *err) DDP_MUST_CHECK;
void ddp_layer_profile_release(ddp_layer_profile *p);

/* Write a profile to a file. kinds[i]: the type of layer i. `of`: where the times come from, as
 * "resnet50.cfg, 128x128, by rank 0 of 1". The file has both as comments. After fflush(out),
 * ferror(out) tells whether all was written. */
void ddp_layer_profile_write(FILE *out, const ddp_layer_profile *p, const char *of,
                             const char *const *kinds);

/* Read the profile of a network of `layers` layers from the file at path. Release *p, also after a
 * failure. Fails with DDP_ERR_IO (it cannot be read), DDP_ERR_NOMEM. Fails with DDP_ERR_USAGE if it
 * is no profile, has another number of layers, or a line that is missing or malformed. A time that
 * is below 0 or not finite is malformed. */
ddp_status ddp_layer_profile_read(ddp_layer_profile *p, const char *path, int layers,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
