/* glue/bf16.h: layers of Darknet's that run in bf16 on a GPU (-ddp_bf16), whose outputs and deltas
 * are no arrays of floats. In a build for CPUs, and without the option, there are none.
 *
 * Under -ddp_bf16 some layers have other arrays. bf16_plan.c (framework/layers/bf16/) decides
 * which, when the cfg is parsed, and frees their output_gpu and delta_gpu; bf16.h says what they
 * have instead, and how an output comes to readers of the other type. Parameters, gradients and
 * statistics are where they ever were, so nothing above knows of it but glue/bf16.c, for the guard
 * and the banner. To take it out: patches/bf16/, glue/bf16.*, run/bf16.*, the option's row and what
 * then does not compile, tests/run/bf16.py, tests/gpu/bf16.c.
 */
#ifndef DDP_GLUE_BF16_H
#define DDP_GLUE_BF16_H

#include "glue/network.h"

struct layer;

typedef struct ddp_bf16_layers {
    int in_bf16, all;
} ddp_bf16_layers;

/* How many layers net has. */
ddp_bf16_layers ddp_bf16_count(const network *net);

int ddp_bf16_runs(const struct layer *l);

typedef enum ddp_bf16_what { DDP_BF16_OUTPUT, DDP_BF16_DELTA } ddp_bf16_what;

/* Of a layer that does: 0 if any of the last mini-batch's is NaN or infinite. Waits for the GPU,
 * and takes memory there and here for a copy; 1 where there is none here. */
int ddp_bf16_finite(const struct layer *l, ddp_bf16_what what);

#endif
