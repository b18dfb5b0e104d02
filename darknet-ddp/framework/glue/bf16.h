/* glue/bf16.h: switches bf16 training on (-ddp_bf16), and answers questions about layers in bf16.
 *
 * With the option some layers keep their outputs and deltas in bf16; layers/bf16/bf16_plan.c
 * chooses them when the cfg is parsed. Parameters, gradients and statistics stay float32, so the
 * trainer needs this file only in its NaN guard.
 *
 * To take it out, delete patches/bf16/, layers/bf16/, glue/bf16.*, run/bf16.*, the option's row,
 * bf16* in the folders of tests/, and what then does not compile. */
#ifndef DDP_GLUE_BF16_H
#define DDP_GLUE_BF16_H

#include "glue/network.h"

struct layer;

/* Return how many of net's layers run in bf16, and set *all to how many it has. */
int ddp_bf16_count(const network *net, int *all);

/* Return 1 if l runs in bf16, else 0. */
int ddp_bf16_runs(const struct layer *l);

typedef enum ddp_bf16_what { DDP_BF16_OUTPUT, DDP_BF16_DELTA } ddp_bf16_what;

/* Return 1 if all outputs (or deltas: `what`) of layer l in the last mini-batch are finite, else 0.
 * Without memory for a copy, returns 1 or ends the program. l must run in bf16. Waits for a GPU. */
int ddp_bf16_finite(const struct layer *l, ddp_bf16_what what);

/* Set whether networks parsed from now on have layers in bf16: 1 or, as at first, 0. Leave it 1
 * while such a network may be resized. 1 also sets glibc's M_MMAP_THRESHOLD to 128 KiB. */
void ddp_bf16_use(int on);

/* Return 1 if networks that are parsed from now on have layers in bf16 (ddp_bf16_use), else 0. */
int ddp_bf16_is_used(void);

/* Return what the device lacks for layers in bf16, in words for an error message; NULL if nothing.
 * The text is valid until the next call. on_host: 1 for the CPU, 0 for the process's GPU. */
const char *ddp_bf16_missing(int on_host);

/* Return 1 if the device computes layers in bf16 in less time than in float32. It must lack
 * nothing for bf16 (ddp_bf16_missing); an x86 CPU must also have AMX, or be AMD's. on_host: 1: CPU;
 * 0: GPU. */
int ddp_bf16_is_faster(int on_host);

/* Return the name of the code that computes layers in bf16 on this process's device, a static
 * phrase. Call only if ddp_bf16_missing returns NULL. */
const char *ddp_bf16_name(void);

#endif
