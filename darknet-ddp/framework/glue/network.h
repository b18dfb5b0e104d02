/* glue/network.h: Darknet's network, for code that knows nothing of Darknet. */
#ifndef DDP_GLUE_NETWORK_H
#define DDP_GLUE_NETWORK_H

#include "base/status.h"

#include <stddef.h>

typedef struct network network;

typedef struct ddp_network_shape {
    int layers;
    int width, height;
    int time_steps;
    int batch, subdivisions; /* as the cfg has them, before any plugin cut them */
} ddp_network_shape;

typedef struct ddp_net_number {
    const char *key; /* of section [net]: "width", "batch", ... */
    int value;       /* 0: leave the cfg's */
} ddp_net_number;

/* Parse the cfg with numbers[0..count), at most DDP_NET_NUMBERS_MOST, in [net] instead of its own
 * and of ddp_darknet_take_net_values', for the GPU of this number, or for the CPU: -1. What Darknet
 * refuses ends the program (glue/darknet.h). */
enum { DDP_NET_NUMBERS_MOST = 8 };
network *ddp_network_load(ddp_network_shape *shape, const char *cfg, const ddp_net_number *numbers,
                          size_t count, int gpu);

/* Is it trained by the formulas of YOLOv4's Darknet? Else by YOLOv3's. *why: what in the cfg says
 * so, net's own. */
int ddp_network_is_v4(const network *net, const char **why);

enum { DDP_PICTURES_BYTES = 200 };

/* What pictures of a detector go through whose cfg is of the forks, as the end of "Pictures are".
 * 0: net is no such detector. */
int ddp_network_pictures(const network *net, char text[DDP_PICTURES_BYTES]);

enum { DDP_MISFIT_BYTES = 512 };

/* Do the cells of its detectors not divide the picture? text: which, and what would. */
int ddp_network_misfit(network *net, char text[DDP_MISFIT_BYTES]);

enum { DDP_SIZE_MISFIT_BYTES = 200 };

/* Is a detector of Darknet's formulas trained at other sizes (random=1) than the cfg's, all larger
 * or all smaller? text: which. */
int ddp_network_size_misfit(const network *net, char text[DDP_SIZE_MISFIT_BYTES]);

/* Steps change nothing from here on: learning rate 0. */
void ddp_network_freeze(network *net);

/* Read weights into it. What cannot be read ends the program (glue/darknet.h). */
void ddp_network_read(network *net, const char *weights);

/* Width and height of its input. */
void ddp_network_input(const network *net, int *width, int *height);

/* Layers that find boxes and say what their loss is made of. */
enum { DDP_HEADS = 8 };

typedef struct ddp_head_layers {
    int layers[DDP_HEADS];
    const char *kinds[DDP_HEADS]; /* "yolo", "region" */
    size_t count;
} ddp_head_layers;

/* The first DDP_HEADS of net. */
ddp_head_layers ddp_network_heads(const network *net);

/* The types of its layers, as a cfg names them; free the array. NULL: no memory. */
const char **ddp_network_kinds(const network *net);

void ddp_network_free(network *net);

#endif
