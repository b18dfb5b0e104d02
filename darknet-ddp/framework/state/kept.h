/* state/kept.h: saves the state that algorithms keep (core/state.h) as arrays of a state file, and
 * loads it again. Each array belongs to a parameter. The file names an array by the layer and part
 * of the parameter, and by the name of the state. If each rank has an array of its own, the rank's
 * number follows the name: "error 3".
 *
 * NULL as a ddp_state: there is no state. The functions that add arrays to list, from list[at] on,
 * return the index behind the last one. The arrays' data is memory of the ddp_state. */
#ifndef DDP_STATE_KEPT_H
#define DDP_STATE_KEPT_H

#include "checkpoint/checkpoint.h"
#include "core/params.h"
#include "core/state.h"

/* "value": in a state file, the name of each array that holds a parameter or a BatchNorm statistic.
 * Arrays of other state have other names. */
extern const char ddp_checkpoint_value_name[];

enum { DDP_KEPT_NAME = 48 }; /* bytes of a name that ddp_kept_add_rest makes */

/* Return how many names ddp_kept_add_rest needs room for. */
size_t ddp_kept_name_count(const ddp_state *s);

/* Write the moments of parameter p, the table's i-th, to list[at] and behind. list has room for
 * ddp_state_set_count(s) entries from there. Returns the index behind the last one written. Moments
 * are the sets of s whose spec has is_moment 1. */
size_t ddp_kept_add_moments(ddp_checkpoint_array *list, size_t at, const ddp_param *p, size_t i,
                            const ddp_state *s);

/* Write all state in s but moments and scratch to list[at] and behind, and return the index behind
 * the last. First come the arrays that are the same on all ranks, then those that ddp_state_gather
 * has brought, of rank 0, of rank 1 and so on. The arrays point into `names`, too. Room needed, for
 * N = ddp_kept_name_count(s): N names and, from list[at] on, N arrays for each parameter. */
size_t ddp_kept_add_rest(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                         const ddp_state *s, char (*names)[DDP_KEPT_NAME]);

/* Set *base to c without the arrays of algorithms' state. The caller frees base->arrays; all else
 * belongs to c, which must outlive *base. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_without_state(ddp_checkpoint *base, const ddp_checkpoint *c,
                                        const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Load s from checkpoint c, on rank 0: the arrays that are the same on all ranks, and those of each
 * rank that wrote c (to hand out by ddp_state_share). Does nothing if s has no sets. table: that of
 * the network.
 *
 *   force  0: fail with DDP_ERR_MISMATCH if c lacks an array of s, or has one that s lacks. But a
 *          c that a single rank wrote may have no array of any state. 1: ignore arrays that s
 *          lacks, and leave arrays of s that c lacks as they are
 *
 * Fails also with DDP_ERR_NOMEM, or with the error of c's source (a file: DDP_ERR_IO). After a
 * failure s may be loaded in part. */
ddp_status ddp_checkpoint_load_state(const ddp_checkpoint *c, const ddp_param_table *table,
                                     ddp_state *s, int force, ddp_error *err) DDP_MUST_CHECK;

#endif
