/* glue/weights.h: tells whether a weights file fits a cfg. */
#ifndef DDP_GLUE_WEIGHTS_H
#define DDP_GLUE_WEIGHTS_H

#include "base/status.h"

typedef struct ddp_weights_fit {
    int cfg_layers;    /* number of layers of the cfg; 0: Darknet refuses the cfg */
    int file_layers;   /* how many first layers the file has weights for; 0 also if it is refused */
    char refusal[512]; /* sentence on why Darknet refuses the cfg or file; "": it loads both */
} ddp_weights_fit;

/* Find out whether a weights file fits a cfg, by loading both in a child process, on the CPU and
 * without -weights_force. If Darknet refuses the cfg or file, still returns DDP_OK: see
 * fit->refusal. Prints Darknet's lines about the load. Fails with DDP_ERR_IO (no file at `weights`,
 * or the child cannot start or crashes), DDP_ERR_NOMEM. */
ddp_status ddp_weights_check(const char *cfg, const char *weights, ddp_weights_fit *fit,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
