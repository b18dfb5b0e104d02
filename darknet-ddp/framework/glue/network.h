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
    int outputs;             /* numbers in the output for a picture: a classifier's classes */
    int mirrors;             /* 1: training mirrors half of the pictures (flip=) */
    int time_steps;          /* steps of a recurrent network; else 1 */
    int batch, subdivisions; /* values of the cfg; net's own are smaller if ranks share them */
} ddp_network_shape;

typedef struct ddp_net_number {
    const char *key; /* a key of section [net]: "width", "batch", ... */
    int value;       /* 0: leave the cfg's value */
} ddp_net_number;

enum { DDP_NET_NUMBERS_MOST = 8 };

/* Make a network from the cfg file, and set *shape. A cfg that Darknet refuses ends the program
 * (glue/darknet.h). The caller frees the result with ddp_network_free.
 *   numbers   values of [net] to put in place of the cfg's and of ddp_darknet_set_net_values;
 *             count is at most DDP_NET_NUMBERS_MOST
 *   gpu       number of the GPU to compute on; -1: the CPU
 *   draws     1: draw first weights, for training; 0: leave weights of convolutions 0, faster */
network *ddp_network_load(ddp_network_shape *shape, const char *cfg, const ddp_net_number *numbers,
                          size_t count, int gpu, int draws);

/* Return the place in the cfg, a text that net owns, that makes net train by the formulas of
 * YOLOv4's Darknet. NULL: it trains by those of YOLOv3's. */
const char *ddp_network_why_v4(const network *net);

enum { DDP_NETWORK_TEXT = 512 }; /* bytes of a text about a network */

/* Describe how a detector's pictures are changed before training, as the end of a sentence that
 * begins "Pictures are", and return 1. Return 0, and leave text as it is, if net's last layer is no
 * [yolo], or its cfg is not for Darknet's later forks. */
int ddp_network_describe_pictures(const network *net, char text[DDP_NETWORK_TEXT]);

/* Return the width in pixels of the smallest cell of net's [yolo] and [region] layers; 0: net has
 * no such layer. */
int ddp_network_smallest_cell(const network *net);

/* Return 1, and write a sentence on which sizes would fit, if the size of net's input is no
 * multiple of the largest cells of its [yolo] and [region] layers. Else return 0, and leave text as
 * it is. */
int ddp_network_bad_size(network *net, char text[DDP_NETWORK_TEXT]);

/* Return 1, and write a sentence on which sizes random=1 draws, if the cfg's size is not within
 * them. Else return 0, and leave text as it is. Only with YOLOv3's formulas can that happen. */
int ddp_network_untrained_size(const network *net, char text[DDP_NETWORK_TEXT]);

/* Return 1 if a run of net also saves a file of averaged weights (ema_alpha=), else 0. */
int ddp_network_saves_average(const network *net);

/* Set net's learning rate to 0, so that steps change only its BatchNorm statistics. Call before the
 * first step. */
void ddp_network_freeze(network *net);

/* Read the weights file, a path of at most 4,095 bytes, into net. If that is not possible, Darknet
 * ends the program (glue/darknet.h). */
void ddp_network_read_weights(network *net, const char *weights);

/* Set *width and *height to those of net's input, in pixels. */
void ddp_network_input_size(const network *net, int *width, int *height);

/* Fail with DDP_ERR_USAGE if net cannot predict in bf16: it is on a GPU, the CPU has no
 * instructions for bf16, or the program was built without oneDNN. */
ddp_status ddp_network_check_bf16(const network *net, ddp_error *err) DDP_MUST_CHECK;

enum { DDP_HEADS = 8 }; /* the most heads of a network that we look at */

/* A network's heads: its first DDP_HEADS [yolo] and [region] layers, in the cfg's order. */
typedef struct ddp_head_layers {
    int layers[DDP_HEADS];        /* layers[i]: layer index of head i */
    const char *kinds[DDP_HEADS]; /* kinds[i]: "yolo" or "region" */
    size_t count;
} ddp_head_layers;

ddp_head_layers ddp_network_heads(const network *net);

/* Return the type of each of net's layers, as a cfg names it. The caller frees the array, not the
 * names. NULL: no memory. */
const char **ddp_network_layer_types(const network *net);

/* Detach net's trainer, if it has one (trainer/trainer.h), and free net and its layers. */
void ddp_network_free(network *net);

#endif
