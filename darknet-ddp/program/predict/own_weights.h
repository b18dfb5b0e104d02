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

/* Find the newest weights of the run of a cfg, and its numbered ones (NAME_<batches>.weights) if
 * they are of its second half. There are at most DDP_PREDICTORS_MOST, oldest first. Release *out,
 * also on failure. The run's .data file, `data`, lies at path, and its backup= is the folder of the
 * weights. They have the name of the cfg. Fails with DDP_ERR_IO (the folder cannot be read, or has
 * none), DDP_ERR_NOMEM. */
ddp_status ddp_own_weights_find(ddp_own_weights *out, const ddp_sections *data, const char *path,
                                const char *cfg, ddp_error *err) DDP_MUST_CHECK;

/* Free the paths, and make *w all zero. */
void ddp_own_weights_release(ddp_own_weights *w);

#endif
