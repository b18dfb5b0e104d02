/* checkpoint/match.h: which state file belongs to a weights file. Beside weights X lie X.state, or
 * X.state.part of a save that did not end (checkpoint/pair.h). A run has a name, `base`. */
#ifndef DDP_CHECKPOINT_MATCH_H
#define DDP_CHECKPOINT_MATCH_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

/* Return 1 if `name` in directory is a weights file that a run of this base has saved, or would
 * write over. Such a file has one of the base's names, and no state of another base
 * ("darknet53_448.weights" beside those of darknet53). */
int ddp_match_is_of_run(const char *directory, const char *name, const char *base);

/* Return 1 if `name` in directory is an average of weights of a run of this base (ema_alpha), which
 * has no state file: BASE_ema.weights or BASE_ema_<batches>.weights. */
int ddp_match_is_average(const char *directory, const char *name, const char *base);

/* Return 1 if a run of this base saves weights under this name: BASE.backup, BASE_final.weights,
 * BASE_<number>.weights and others. */
int ddp_match_is_weights(const char *name, const char *base);
/* Return 1 if the name is BASE_<number>.weights. */
int ddp_match_is_numbered(const char *name, const char *base);

/* Copy to out, of `size` bytes, the name X of the weights file to which X.state or X.state.part
 * belongs, and return 1. Any other name is copied as it is; returns 0. */
int ddp_match_weights_name(char *out, size_t size, const char *file);

/* Return 1 if `file` is named X.state.part. */
int ddp_match_is_part(const char *file);

/* Return "WEIGHTS.state", which the caller frees; NULL: no memory. */
char *ddp_state_path(const char *weights);

/* Return "WEIGHTS.state.part", which the caller frees; NULL: no memory. */
char *ddp_state_part_path(const char *weights);

/* Fail with DDP_ERR_MISMATCH if the file at `weights` is not the one that the metadata describe, by
 * its size and hash. Reads all of it. Fails also with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_match_weights(const char *weights, const ddp_checkpoint_metadata *metadata,
                             ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH, DDP_ERR_FORMAT or DDP_ERR_IO if no whole state file beside these
 * weights describes them. Reads all of both files. Fails also with
 * DDP_ERR_NOMEM. */
ddp_status ddp_match_pair(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_FORMAT if a number behind the header of this weights file of Darknet's is not
 * finite; with DDP_ERR_IO if it cannot be read. */
ddp_status ddp_match_finite(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Return how many images the header of this weights file of Darknet's counts; 0: it cannot be read.
 */
uint64_t ddp_match_seen(const char *weights);

/* Finish a save of X, `weights`, that died between its renames: if X.state.part is whole and
 * belongs to X, and X.state does not, rename it X.state. Otherwise do nothing. Reads all of these
 * files. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_match_promote(const char *weights, ddp_error *err) DDP_MUST_CHECK;

#endif
