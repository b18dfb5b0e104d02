/* glue/network.h: loads a network of Darknet's and answers questions about it, for code that does
 * not include darknet.h. */
#ifndef DDP_GLUE_NETWORK_H
#define DDP_GLUE_NETWORK_H

#include "base/status.h"

#include <stddef.h>

typedef struct network network;

typedef struct ddp_network_shape {
    int layers;
    int width, height;       /* size of the input, in pixels */
    int outputs;             /* numbers in the output for a picture: a classifier's classes */
    int mirrors;             /* 1: training mirrors half of the pictures (flip=) */
    int time_steps;          /* time_steps= of the cfg, for recurrent networks; else 1 */
    int batch, subdivisions; /* values of [net], before ranks share the batch */
} ddp_network_shape;

typedef struct ddp_net_number {
    const char *key; /* a key of section [net]: "width", "batch", ... */
    int value;       /* value that replaces the cfg's; 0: none does */
} ddp_net_number;

enum { DDP_NET_NUMBERS_MOST = 8 };

/* Make a network from the cfg file, and set *shape. If Darknet refuses the cfg, it ends the program
 * (glue/darknet.h). The caller frees the result with ddp_network_free.
 *   numbers   values of [net]; they replace the cfg's, and ddp_darknet_set_net_values's
 *   count     length of numbers, at most DDP_NET_NUMBERS_MOST
 *   gpu       number of the GPU to compute on; -1: the CPU. Darknet's gpu_index stays at it.
 *   draws     1: draw first weights, for training; 0: leave weights of convolutions 0, faster */
network *ddp_network_load(ddp_network_shape *shape, const char *cfg, const ddp_net_number *numbers,
                          size_t count, int gpu, int draws);

/* Return the first thing in the cfg that makes net train by YOLOv4's formulas, such as "FILE:LINE:
 * KEY=VALUE"; NULL: net trains by YOLOv3's. net owns the text. */
const char *ddp_network_why_v4(const network *net);

enum { DDP_NETWORK_TEXT = 512 }; /* bytes of a text about a network */

/* Write to text how a detector's pictures are changed before training, in words to put behind
 * "Pictures are", and return 1. If the cfg is not for Darknet's later forks, or the last layer is
 * no [yolo], return 0, and leave text as it is. */
int ddp_network_describe_pictures(const network *net, char text[DDP_NETWORK_TEXT]);

/* Return the width in pixels of the smallest cell of net's [yolo] and [region] layers; 0 if net has
 * no such layer. */
int ddp_network_smallest_cell(const network *net);

/* If the size of net's input is no multiple of the largest cells of its [yolo] and [region] layers,
 * return 1, and write a sentence on which sizes are. Else return 0, and leave text as it is. */
int ddp_network_bad_size(network *net, char text[DDP_NETWORK_TEXT]);

/* Return 1, and write a sentence on this to text, if random=1 draws sizes from 320 to 608 (with
 * YOLOv3's formulas), and net's is outside. Else return 0, and leave text as it is. */
int ddp_network_untrained_size(const network *net, char text[DDP_NETWORK_TEXT]);

/* Return 1 if a run of net also saves a file of averaged weights (ema_alpha=), else 0. */
int ddp_network_saves_average(const network *net);

/* Set net's learning rate to 0: steps then change no parameters. Call before the first step. */
void ddp_network_freeze(network *net);

/* Read a weights file into net. weights: its path, at most 4,095 bytes. Darknet ends the program
 * (glue/darknet.h) if the file cannot be read or, without -weights_force, does not fit net. A file
 * with "conv" in its name may end early: a line says so, and the other layers stay as they are. */
void ddp_network_read_weights(network *net, const char *weights);

/* Set *width and *height to those of net's input, in pixels. */
void ddp_network_input_size(const network *net, int *width, int *height);

/* Fail with DDP_ERR_USAGE if net cannot predict in bf16: it is on a GPU, the CPU has no
 * instructions for bf16, or the program was built without oneDNN. */
ddp_status ddp_network_check_bf16(const network *net, ddp_error *err) DDP_MUST_CHECK;

enum { DDP_HEADS = 8 }; /* most heads in ddp_head_layers; later ones are left out */

/* A network's heads: its first DDP_HEADS [yolo] and [region] layers, in the cfg's order. */
typedef struct ddp_head_layers {
    int layers[DDP_HEADS];        /* layers[i]: layer index of head i */
    const char *kinds[DDP_HEADS]; /* kinds[i]: "yolo" or "region" */
    size_t count;
} ddp_head_layers;

ddp_head_layers ddp_network_heads(const network *net);

/* Return the type of each of net's layers, such as "maxpool". The caller frees the array, not the
 * names. NULL: no memory. */
const char **ddp_network_layer_types(const network *net);

/* Detach net's trainer, if it has one (trainer/trainer.h), and free net and its layers. */
void ddp_network_free(network *net);

#endif
