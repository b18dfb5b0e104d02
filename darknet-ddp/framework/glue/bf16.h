/* glue/bf16.h: the layers of Darknet that run in bf16 (-ddp_bf16). A run without the option has
 * none.
 *
 * bf16_plan.c (framework/layers/bf16/) decides which layers these are when the cfg is parsed, and
 * frees their outputs and deltas in float32. The header layers/bf16/bf16.h says which arrays these
 * layers have instead, and how layers of both types read each other's outputs. Parameters,
 * gradients and statistics stay float32. So above layers/ only glue/bf16.c knows of bf16, for the
 * NaN guard and the banner.
 *
 * To take bf16 out: patches/bf16/, glue/bf16.*, run/bf16.*, the option's row and what then does not
 * compile, tests/run/bf16.py, tests/gpu/bf16.c. */
#ifndef DDP_GLUE_BF16_H
#define DDP_GLUE_BF16_H

#include "glue/network.h"

struct layer;

typedef struct ddp_bf16_layers {
    int in_bf16, all; /* layers of the network that run in bf16; all its layers */
} ddp_bf16_layers;

/* Count the layers of net, and those of them that run in bf16. */
ddp_bf16_layers ddp_bf16_count(const network *net);

/* Return 1 if l runs in bf16, else 0. */
int ddp_bf16_runs(const struct layer *l);

typedef enum ddp_bf16_what { DDP_BF16_OUTPUT, DDP_BF16_DELTA } ddp_bf16_what;

/* Return 0 if any output (or delta) of l in the last mini-batch is NaN or infinite, else 1. l must
 * run in bf16. Waits for a GPU, and allocates a copy there and on the host; returns 1 if the host
 * has no memory for it. */
int ddp_bf16_finite(const struct layer *l, ddp_bf16_what what);

/* Set whether networks that are parsed from now on compute in bf16. on: 1 yes; 0 no, as at first.
 */
void ddp_bf16_use(int on);
/* Return what ddp_bf16_use has set. */
int ddp_bf16_is_used(void);

/* Return what this process's device lacks for layers in bf16; NULL: nothing. on_host: 1 if it is a
 * CPU; 0: its current GPU. The text is valid until the next call. */
const char *ddp_bf16_missing(int on_host);

/* Return what computes layers in bf16 on this process's device, a static phrase for a line about
 * the run. */
const char *ddp_bf16_name(void);

#endif
