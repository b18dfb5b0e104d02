/* predict/own_weights.h: the weights that a run has saved, for commands that look at its data. */
#ifndef DDP_PREDICT_OWN_WEIGHTS_H
#define DDP_PREDICT_OWN_WEIGHTS_H

#include "predict/run.h"

#include "inputs/text_file.h"

/* Paths of weights files. All zero: there are none. */
typedef struct ddp_own_weights {
    char *paths[DDP_PREDICTORS_MOST];
    size_t count;
} ddp_own_weights;

/* Find the weights that the run BASE has saved in a folder: the numbered ones
 * (BASE_<batches>.weights) of its second half, then the newest. At most DDP_PREDICTORS_MOST, oldest
 * first. Release *out, also on failure. Fails with DDP_ERR_IO (the folder cannot be read, or has
 * none), DDP_ERR_NOMEM. */
ddp_status ddp_own_weights_find(ddp_own_weights *out, const char *folder, const char *base,
                                ddp_error *err) DDP_MUST_CHECK;

/* Find the weights that the run of a cfg has saved, as ddp_own_weights_find.
 *   data, path  the run's .data file, and its path; without backup= the folder is backup/ beside it
 *   cfg         path of the cfg, whose name the weights have */
ddp_status ddp_own_weights_of_cfg(ddp_own_weights *out, const ddp_sections *data, const char *path,
                                  const char *cfg, ddp_error *err) DDP_MUST_CHECK;

/* Free the paths, and make *w all zero. */
void ddp_own_weights_release(ddp_own_weights *w);

#endif
