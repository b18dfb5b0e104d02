/* checkpoint/match.h: which state file belongs to a weights file. */
#ifndef DDP_CHECKPOINT_MATCH_H
#define DDP_CHECKPOINT_MATCH_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"

/* Is this a weights file that a run of this base has saved in directory, or would write over? Not
 * one whose state file is of another base ("darknet53_448.weights" beside those of darknet53). */
int ddp_match_is_of_run(const char *directory, const char *name, const char *base);

/* Is it an average of such a run's weights (ema_alpha), BASE_ema.weights or
 * BASE_ema_<batches>.weights, which has no state file? */
int ddp_match_is_average(const char *directory, const char *name, const char *base);

/* Is this the name of a weights file that a run of this base saves? Of one with a number,
 * BASE_<number>.weights? */
int ddp_match_is_weights(const char *name, const char *base);
int ddp_match_is_numbered(const char *name, const char *base);

/* The weights file that a state file of this name, or its part, belongs to; any other name as it
 * is. Returns whether it is the name of such a file. */
int ddp_match_weights_name(char *out, size_t size, const char *file);

/* Does it end as a state file's part does, X.state.part? */
int ddp_match_is_part(const char *file);

/* "PATH.state"; NULL: no memory. The caller frees it. */
char *ddp_state_path(const char *weights);

/* "PATH.state.part", the same. */
char *ddp_state_part_path(const char *weights);

/* Is this the weights file that the state describes? Reads all of it.
 * DDP_ERR_MISMATCH if not, DDP_ERR_IO if it is missing or cannot be read, DDP_ERR_NOMEM. */
ddp_status ddp_match_weights(const char *weights, const ddp_checkpoint_metadata *metadata,
                             ddp_error *err) DDP_MUST_CHECK;

/* Is there a state file beside the weights that is whole, and describes them? Reads all of both.
 * DDP_ERR_MISMATCH, DDP_ERR_FORMAT, DDP_ERR_IO if not, DDP_ERR_NOMEM. */
ddp_status ddp_match_pair(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* Has this weights file of Darknet's nothing but finite numbers behind its header? DDP_ERR_FORMAT
 * if not, DDP_ERR_IO. */
ddp_status ddp_match_finite(const char *weights, ddp_error *err) DDP_MUST_CHECK;

/* The images that the header of this weights file of Darknet's counts; 0 where it cannot be read.
 */
uint64_t ddp_match_seen(const char *weights);

/* A save of `weights` may have died between its renames: if X.state.part is whole and
 * belongs to X, and X.state does not, finish the save. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_match_promote(const char *weights, ddp_error *err) DDP_MUST_CHECK;

#endif
