/* checkpoint/match.h: tells which weights files belong to a run, and which state file to a weights
 * file. The state file of weights X is X.state; X.state.part is that of a save that was interrupted
 * (checkpoint/pair.h). A run has a name, `base` (checkpoint/find.h). */
#ifndef DDP_CHECKPOINT_MATCH_H
#define DDP_CHECKPOINT_MATCH_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

/* Return 1 if weights `name` in directory are of a run of this base, also if there is no such file.
 * The name must be one of the base (ddp_match_is_weights). Its state, X.state or else X.state.part,
 * must not name another base. (By its name, darknet53_448.weights may be of darknet53, too.) */
int ddp_match_is_of_run(const char *directory, const char *name, const char *base);

/* Return 1 if `name` in directory is an average of weights (ema_alpha) of a run of this base:
 * BASE_ema.weights or BASE_ema_<batches>.weights. Returns 0 if its state names another base. */
int ddp_match_is_average(const char *directory, const char *name, const char *base);

/* Return 1 if a run of this base saves pairs under this name: BASE.backup, BASE_final.weights,
 * BASE_<number>.weights and others (checkpoint/find.h). */
int ddp_match_is_weights(const char *name, const char *base);
/* Return 1 if the name is BASE_<number>.weights. */
int ddp_match_is_numbered(const char *name, const char *base);

/* If `file` is named X.state or X.state.part, copy X to out, of `size` bytes, and return 1. Else
 * copy `file` to out, and return 0. */
int ddp_match_weights_name(char *out, size_t size, const char *file);

/* Return 1 if a run of this base saves a file of this name: weights X (ddp_match_is_weights),
 * X.state or X.state.part. */
int ddp_match_is_pair_file(const char *file, const char *base);

/* Return 1 if `file` is named X.state.part. */
int ddp_match_is_part(const char *file);

/* Return "WEIGHTS.state", which the caller frees; NULL: no memory. */
char *ddp_state_path(const char *weights);

/* Return "WEIGHTS.state.part", which the caller frees; NULL: no memory. */
char *ddp_state_part_path(const char *weights);

/* Fail with DDP_ERR_MISMATCH if the weights file does not have the size and the hash that metadata
 * say. Reads the whole file. Fails also with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_match_check_weights(const char *weights, const ddp_checkpoint_metadata *metadata,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Fail unless WEIGHTS.state is undamaged and of weights: with DDP_ERR_MISMATCH (of other weights),
 * DDP_ERR_FORMAT (damaged), DDP_ERR_IO, DDP_ERR_NOMEM. Reads both. Numbers need not be finite. */
ddp_status ddp_match_check_pair(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_FORMAT if a number in this weights file is not finite; with DDP_ERR_IO if the
 * file cannot be read. A file without numbers passes. */
ddp_status ddp_match_check_finite(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Return how many images the network had seen when this weights file was written, by the file's
 * header; 0 if the file cannot be read. */
uint64_t ddp_match_images_seen(const char *weights);

/* Finish an interrupted save of weights X: if X.state.part is undamaged and belongs to X, and
 * X.state is missing, damaged or not X's, rename X.state.part to X.state. Else do nothing. Reads
 * all of these files. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_match_finish_save(const char *weights, ddp_error *err) DDP_MUST_CHECK;

#endif
