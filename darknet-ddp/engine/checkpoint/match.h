/* checkpoint/match.h: which state file belongs to a weights file. */
#ifndef DDP_CHECKPOINT_MATCH_H
#define DDP_CHECKPOINT_MATCH_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

/* Return 1 if `name` in directory is a weights file that a run of this base has saved, or would
 * write over. A file whose state is of another base is not ("darknet53_448.weights" beside those of
 * darknet53). */
int ddp_match_is_of_run(const char *directory, const char *name, const char *base);

/* Return 1 if `name` in directory is an average of such a run's weights (ema_alpha), which has no
 * state file: BASE_ema.weights or BASE_ema_<batches>.weights. */
int ddp_match_is_average(const char *directory, const char *name, const char *base);

/* Return 1 if this is the name of a weights file that a run of this base saves; the second, only of
 * one with a number, BASE_<number>.weights. */
int ddp_match_is_weights(const char *name, const char *base);
int ddp_match_is_numbered(const char *name, const char *base);

/* Copy to out the name of the weights file to which `file`, a state file or a part of one, belongs;
 * any other name is copied as it is. Returns 1 if file is the name of a state file or its part. */
int ddp_match_weights_name(char *out, size_t size, const char *file);

/* Return 1 if the name ends as that of a state file's part, X.state.part. */
int ddp_match_is_part(const char *file);

/* Return "PATH.state", which the caller frees; NULL: no memory. */
char *ddp_state_path(const char *weights);

/* Return "PATH.state.part", which the caller frees; NULL: no memory. */
char *ddp_state_part_path(const char *weights);

/* Fail with DDP_ERR_MISMATCH if this is not the weights file that the metadata describe. Reads all
 * of it. Fails also with DDP_ERR_IO (it is missing, or cannot be read), DDP_ERR_NOMEM. */
ddp_status ddp_match_weights(const char *weights, const ddp_checkpoint_metadata *metadata,
                             ddp_error *err) DDP_MUST_CHECK;

/* Fail if there is no whole state file beside the weights that describes them: with
 * DDP_ERR_MISMATCH, DDP_ERR_FORMAT or DDP_ERR_IO. Reads all of both. Fails also with DDP_ERR_NOMEM.
 */
ddp_status ddp_match_pair(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_FORMAT if this weights file of Darknet's has a number behind its header that is
 * not finite; with DDP_ERR_IO if it cannot be read. */
ddp_status ddp_match_finite(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Return how many images the header of this weights file of Darknet's counts; 0: it cannot be read.
 */
uint64_t ddp_match_seen(const char *weights);

/* Finish a save of X, `weights`, that died between its renames: if X.state.part is whole and
 * belongs to X, and X.state does not, name it X.state. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_match_promote(const char *weights, ddp_error *err) DDP_MUST_CHECK;

#endif
