/* state/kept.h: state that algorithms keep beside the network's own (core/state.h), as arrays of a
 * state file. An array of a parameter has the parameter's layer and part, and the name of the
 * state. If each rank has its own, the rank's number stands behind the name. */
#ifndef DDP_STATE_KEPT_H
#define DDP_STATE_KEPT_H

#include "checkpoint/checkpoint.h"
#include "core/params.h"
#include "core/state.h"

/* Name of arrays that hold values of parameters or of BatchNorm statistics, not of moments. */
extern const char ddp_checkpoint_value_name[];

enum { DDP_KEPT_NAME = 48 }; /* bytes of a name that ddp_kept_add_rest makes */

/* Return for how many names ddp_kept_add_rest needs room. Here and below s may be NULL: no
 * state. */
size_t ddp_kept_names(const ddp_state *s);

/* Add to the list, from list[at] on, the arrays of s whose spec has is_moment, for p, the table's
 * i-th parameter. The list borrows them, and has room for ddp_state_arrays(s) more. Returns the
 * index behind the last one added. */
size_t ddp_kept_add_moments(ddp_checkpoint_array *list, size_t at, const ddp_param *p, size_t i,
                            const ddp_state *s);

/* Add to the list, from list[at] on, all state but moments. Call last, so that it stands behind all
 * other arrays. First come the arrays that are the same on all ranks, then those of each rank, rank
 * by rank. The list borrows `names`, which has room for ddp_kept_names(s). NULL is allowed as s.
 * Returns the index behind the last one added. */
size_t ddp_kept_add_rest(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                         const ddp_state *s, char (*names)[DDP_KEPT_NAME]);

/* Copy c to *base without the arrays of algorithms' state. The caller frees base->arrays and
 * nothing else of it; c must outlive it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_without_state(ddp_checkpoint *base, const ddp_checkpoint *c,
                                        const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Load s, the state of this table's network, from checkpoint c: the arrays that ranks share, and
 * the arrays of each rank that wrote c. Call on rank 0. DDP_ERR_MISMATCH: c lacks an array of s, or
 * has others, and force is 0. With force, others are left out, and what c lacks stays as it is. The
 * checkpoint of a run with one rank may lack all arrays of s. Fails also with DDP_ERR_NOMEM, and as
 * ddp_checkpoint_get. */
ddp_status ddp_checkpoint_load_state(const ddp_checkpoint *c, const ddp_param_table *table,
                                     ddp_state *s, int force, ddp_error *err) DDP_MUST_CHECK;

#endif
