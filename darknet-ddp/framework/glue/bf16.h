/* glue/bf16.h: switches bf16 training on (-ddp_bf16), and answers questions about layers in bf16.
 *
 * With the option some layers keep their outputs and deltas in bf16; layers/bf16/bf16_plan.c
 * chooses them when the cfg is parsed. Parameters, gradients and statistics stay float32, so only
 * the NaN guard and the banner need this file.
 *
 * To take bf16 out: patches/bf16/, glue/bf16.*, run/bf16.*, the option's row and what then does not
 * compile, tests/run/bf16.py, tests/gpu/bf16.c. */
#ifndef DDP_GLUE_BF16_H
#define DDP_GLUE_BF16_H

#include "glue/network.h"

struct layer;

/* Return how many of net's layers run in bf16, and set *all to how many it has. */
int ddp_bf16_count(const network *net, int *all);

/* Return 1 if l runs in bf16, else 0. */
int ddp_bf16_runs(const struct layer *l);

typedef enum ddp_bf16_what { DDP_BF16_OUTPUT, DDP_BF16_DELTA } ddp_bf16_what;

/* Return 1 if all outputs, or all deltas, of l in the last mini-batch are finite, else 0. l must
 * run in bf16. Copies them to the host, for which it waits for a GPU. Returns 1 also if there is no
 * memory for the copy. */
int ddp_bf16_finite(const struct layer *l, ddp_bf16_what what);

/* Set whether networks that are parsed from now on have layers in bf16: 1 or, as at first, 0. With
 * 1 also fix glibc's M_MMAP_THRESHOLD, for the whole process; load_data sets another value. */
void ddp_bf16_use(int on);

/* Return the value that ddp_bf16_use has set. */
int ddp_bf16_is_used(void);

/* Return a phrase on why the device cannot compute layers in bf16; NULL: it can. on_host: 1 for the
 * CPU, 0 for the process's current GPU. The text is valid until the next call. */
const char *ddp_bf16_missing(int on_host);

/* Return 1 if layers in bf16 take less time than in float32: on a GPU that can compute them, and on
 * a CPU with AMX. Other CPUs multiply few more numbers a second in bf16, and in float32 they have
 * Winograd's algorithm. on_host: as above. */
int ddp_bf16_is_faster(int on_host);

/* Return the name of the code that computes layers in bf16 on this process's device, a static
 * phrase for a line about the run. */
const char *ddp_bf16_name(void);

#endif
