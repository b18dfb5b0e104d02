/* glue/weights.h: tells whether a weights file fits a cfg. */
#ifndef DDP_GLUE_WEIGHTS_H
#define DDP_GLUE_WEIGHTS_H

#include "base/status.h"

typedef struct ddp_weights_fit {
    int of;          /* how many layers the cfg has; 0: Darknet refuses the cfg */
    int layers;      /* for how many layers, from the first on, the file has weights */
    char wrong[512]; /* why Darknet would refuse cfg or file, a sentence; "": it would not */
} ddp_weights_fit;

/* Find out whether a weights file fits cfg, and set *fit. A child process loads both on the CPU, as
 * training without -weights_force does, and prints what Darknet prints of a load. A cfg or file
 * that Darknet refuses is no failure: fit->wrong says why. Fails with DDP_ERR_IO (no file at
 * `weights`, or the child crashes), DDP_ERR_NOMEM. */
ddp_status ddp_weights_check(const char *cfg, const char *weights, ddp_weights_fit *fit,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
