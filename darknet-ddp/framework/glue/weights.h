/* glue/weights.h: tells whether a weights file fits a cfg. */
#ifndef DDP_GLUE_WEIGHTS_H
#define DDP_GLUE_WEIGHTS_H

#include "base/status.h"

typedef struct ddp_weights_fit {
    int of;          /* how many layers the cfg has; 0: Darknet refuses the cfg */
    int layers;      /* for how many layers, from the first on, the file has weights */
    char wrong[512]; /* why Darknet would refuse cfg or file, a sentence; "": it would not */
} ddp_weights_fit;

/* Load the weights file into the network of cfg, on the CPU, as training without -weights_force
 * does, set *fit and drop both. A child process does it, since Darknet ends the process if it
 * refuses a file. The child prints what Darknet prints of a load. Fails with DDP_ERR_IO (the file
 * cannot be read, or the child dies), DDP_ERR_NOMEM. */
ddp_status ddp_weights_check(const char *cfg, const char *weights, ddp_weights_fit *fit,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
