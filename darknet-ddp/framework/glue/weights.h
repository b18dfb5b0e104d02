/* glue/weights.h: does a weights file fit a cfg? */
#ifndef DDP_GLUE_WEIGHTS_H
#define DDP_GLUE_WEIGHTS_H

#include "base/status.h"

typedef struct ddp_weights_fit {
    int of;          /* layers of the cfg */
    int layers;      /* the first ones, for which the file has weights */
    char wrong[512]; /* why Darknet would not take cfg or file, a sentence; "": it would */
} ddp_weights_fit;

/* Load weights into the network of cfg, on the CPU, as training without -weights_force does, and
 * drop both. A child process does it, since Darknet ends the process where it refuses a file; what
 * it prints goes to standard error. Fails with DDP_ERR_IO (the file cannot be read, or the child
 * dies), DDP_ERR_NOMEM. */
ddp_status ddp_weights_check(const char *cfg, const char *weights, ddp_weights_fit *fit,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
