/* state/kept.h: state that training keeps beside the network's own (core/state.h), as arrays of a
 * state file. An array of a parameter has the parameter's name. An array that each rank has for
 * itself has its name and the rank. */
#ifndef DDP_STATE_KEPT_H
#define DDP_STATE_KEPT_H

#include "checkpoint/checkpoint.h"
#include "core/params.h"
#include "core/state.h"

/* The name of an array that holds a parameter or a statistic itself, and no moment. */
extern const char ddp_checkpoint_value_name[];

enum { DDP_KEPT_NAME = 48 }; /* bytes of a name that ddp_kept_add_rest makes */

/* Return how many names ddp_kept_add_rest makes. s: NULL is no state, here and below. */
size_t ddp_kept_names(const ddp_state *s);

/* Add to the list, from list[at] on, the arrays that stand with the moments of the table's i-th
 * parameter p. Returns the place behind them. */
size_t ddp_kept_add_moments(ddp_checkpoint_array *list, size_t at, const ddp_param *p, size_t i,
                            const ddp_state *s);

/* Add to the list, from list[at] on, the arrays that stand behind all others. First come the arrays
 * that are the same on all ranks, then those of each rank, rank by rank. names: room for
 * ddp_kept_names(s) names, which the list borrows. Returns the place behind them. */
size_t ddp_kept_add_rest(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                         const ddp_state *s, char (*names)[DDP_KEPT_NAME]);

/* Copy c to *base without the arrays that are not the network's own. The caller frees base->arrays
 * and nothing else of it; c must outlive it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_without_state(ddp_checkpoint *base, const ddp_checkpoint *c,
                                        const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Load s, the state of this table's network, from checkpoint c: the arrays that ranks share, and
 * the arrays of each rank that wrote c. On rank 0. DDP_ERR_MISMATCH: c lacks an array, or has
 * another; with force these are left out, and what c lacks stays as it is. A checkpoint of one rank
 * may have none. Fails also with DDP_ERR_NOMEM, and as ddp_checkpoint_get. */
ddp_status ddp_checkpoint_load_state(const ddp_checkpoint *c, const ddp_param_table *table,
                                     ddp_state *s, int force, ddp_error *err) DDP_MUST_CHECK;

#endif
