/* glue/network.h: loads Darknet's network and answers questions about it, for code that does not
 * include darknet.h. */
#ifndef DDP_GLUE_NETWORK_H
#define DDP_GLUE_NETWORK_H

#include "base/status.h"

#include <stddef.h>

typedef struct network network;

typedef struct ddp_network_shape {
    int layers;
    int width, height;       /* input, in pixels */
    int time_steps;          /* steps of a recurrent network; else 1 */
    int batch, subdivisions; /* the cfg's values; a plugin may have made net's smaller */
} ddp_network_shape;

typedef struct ddp_net_number {
    const char *key; /* a key of section [net]: "width", "batch", ... */
    int value;       /* value to put there; 0: leave the cfg's */
} ddp_net_number;

enum { DDP_NET_NUMBERS_MOST = 8 };

/* Parse the cfg file for GPU number gpu (-1: for the CPU), and fill *shape. The
 * numbers[0..count), at most DDP_NET_NUMBERS_MOST, take the place of values of [net], also of those
 * of ddp_darknet_take_net_values. draws: 1: draw first weights, for training. 0: weights of
 * convolutions are 0; ddp_network_read may read a file into them. A cfg that Darknet refuses ends
 * the program (glue/darknet.h). Free the result by ddp_network_free. */
network *ddp_network_load(ddp_network_shape *shape, const char *cfg, const ddp_net_number *numbers,
                          size_t count, int gpu, int draws);

/* Return 1 if net is trained by the formulas of YOLOv4's Darknet, 0 if by those of YOLOv3's. *why
 * becomes a text, owned by net, that names the place in the cfg that decides; NULL for YOLOv3's. */
int ddp_network_is_v4(const network *net, const char **why);

enum { DDP_PICTURES_BYTES = 200 };

/* Write what happens to the pictures of a detector before training, as the end of a sentence that
 * begins "Pictures are", and return 1. Returns 0, and leaves text as it is, if net's last layer is
 * no [yolo], or its cfg is not of the later forks. */
int ddp_network_pictures(const network *net, char text[DDP_PICTURES_BYTES]);

enum { DDP_MISFIT_BYTES = 512 };

/* Return how many pixels of the input's width a cell of net's finest detector has; 0: net has no
 * [yolo] or [region]. */
int ddp_network_cell(const network *net);

/* If the largest cells of net's detectors do not divide net's input, return their side in pixels,
 * and write a sentence on which sizes would fit. Return 0, with text as it was, if they do, or if
 * net has no [yolo] or [region]. */
int ddp_network_misfit(network *net, char text[DDP_MISFIT_BYTES]);

enum { DDP_SIZE_MISFIT_BYTES = 200 };

/* Return 1, and write a sentence on which sizes random=1 draws, if the cfg's own size is not among
 * them; else 0, and text stays.
 * Only a detector of Darknet's formulas draws sizes that the cfg does not decide. */
int ddp_network_size_misfit(const network *net, char text[DDP_SIZE_MISFIT_BYTES]);

/* Return how many files of averaged weights a run of net saves (ema_alpha=): 0 or 1. */
int ddp_network_averages(const network *net);

/* Set net's learning rate to 0, so that steps leave its parameters. Call before the first step.
 * BatchNorm statistics change in any case. */
void ddp_network_freeze(network *net);

/* Read the weights file, a path of at most 4,095 bytes, into net. A file that cannot be read ends
 * the program (glue/darknet.h). */
void ddp_network_read(network *net, const char *weights);

/* Set *width and *height to those of net's input, in pixels. */
void ddp_network_input(const network *net, int *width, int *height);

/* Return how many numbers net gives for a picture; for a classifier, that is its classes. */
int ddp_network_outputs(const network *net);

/* Return 1 if training mirrors half of the pictures; 0 if the cfg has flip=0. */
int ddp_network_mirrors(const network *net);

/* Fail with DDP_ERR_USAGE if predictions of net cannot compute in bf16: it is on a GPU, the CPU has
 * no instructions for bf16, or the build no oneDNN. */
ddp_status ddp_network_check_bf16(const network *net, ddp_error *err) DDP_MUST_CHECK;

/* most heads ([yolo] and [region] layers) of a network whose loss and IoU are kept */
enum { DDP_HEADS = 8 };

typedef struct ddp_head_layers {
    int layers[DDP_HEADS];
    const char *kinds[DDP_HEADS]; /* kinds[i]: "yolo" or "region", of layer layers[i] */
    size_t count;
} ddp_head_layers;

/* Return the indices and kinds of net's first DDP_HEADS [yolo] and [region] layers, in the order of
 * the cfg. */
ddp_head_layers ddp_network_heads(const network *net);

/* Return the types of net's layers, as a cfg names them. Free only the array. NULL: no memory. */
const char **ddp_network_kinds(const network *net);

/* Free net and its layers; detach a trainer that is attached to it (trainer/trainer.h). */
void ddp_network_free(network *net);

#endif
