/* predict/own_weights.h: finds a run's newest weights for `darknet ddp suspects`. */
#ifndef DDP_PREDICT_OWN_WEIGHTS_H
#define DDP_PREDICT_OWN_WEIGHTS_H

#include "predict/run.h"

#include "inputs/text_file.h"

/* Paths of weights files. All zero: there are none. */
typedef struct ddp_own_weights {
    char *paths[DDP_PREDICTORS_MOST];
    size_t count;
} ddp_own_weights;

/* Add to *out at most DDP_PREDICTORS_MOST weights that the run `base` has saved in a folder. These
 * are the newest, behind the last numbered ones (BASE_<batches>.weights) that have trained at least
 * half as many batches as the newest.
 * *out must be all zero before; release it, also on failure. Fails with DDP_ERR_IO (the folder
 * cannot be read, or has none), DDP_ERR_NOMEM. */
ddp_status ddp_own_weights_find(ddp_own_weights *out, const char *folder, const char *base,
                                ddp_error *err) DDP_MUST_CHECK;

/* Call ddp_own_weights_find for the run of a .data file and a cfg, and fail as it does.
 *   data  the .data file, whose backup= is the folder; without backup=, backup/ beside the file
 *   path  path of the .data file
 *   cfg   path of the cfg, after which the weights are named */
ddp_status ddp_own_weights_of_cfg(ddp_own_weights *out, const ddp_sections *data, const char *path,
                                  const char *cfg, ddp_error *err) DDP_MUST_CHECK;

/* Free the paths, and make *w all zero. */
void ddp_own_weights_release(ddp_own_weights *w);

#endif
