/* state/kept.h: what training keeps beside the network's own (core/state.h), as a state file has
 * it. A parameter's array has its name there; one that each rank has for itself has its name and
 * the rank. */
#ifndef DDP_STATE_KEPT_H
#define DDP_STATE_KEPT_H

#include "checkpoint/checkpoint.h"
#include "core/params.h"
#include "core/state.h"

/* The name of an array that holds a parameter or a statistic itself, and no moment. */
extern const char ddp_checkpoint_value_name[];

enum { DDP_KEPT_NAME = 48 };

/* Names of arrays that ddp_kept_add_rest writes. s may be NULL, as below. */
size_t ddp_kept_names(const ddp_state *s);

/* Add to the list, from its place `at` on, what stands with the moments of the table's i-th
 * parameter. Returns the place behind it. */
size_t ddp_kept_add_moments(ddp_checkpoint_array *list, size_t at, const ddp_param *p, size_t i,
                            const ddp_state *s);

/* And what stands behind all else: what is the same on all ranks, then each rank's own, of ranks
 * one after the other. names: room for so many as there are. */
size_t ddp_kept_add_rest(ddp_checkpoint_array *list, size_t at, const ddp_param_table *table,
                         const ddp_state *s, char (*names)[DDP_KEPT_NAME]);

/* c without all arrays that are not the network's own: *base is c but for its list of arrays, which
 * is the caller's to free. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_without_state(ddp_checkpoint *base, const ddp_checkpoint *c,
                                        const ddp_param_table *table,
                                        ddp_error *err) DDP_MUST_CHECK;

/* Fill s, of this table, on rank 0, with what c has of it: what is the same on all ranks, and of so
 * many ranks as its run had what is each one's own. DDP_ERR_MISMATCH: it lacks some, or has others;
 * with force these are left, and what it lacks stays as it is. A run of one rank may have kept
 * nothing. Fails also with DDP_ERR_NOMEM, and as ddp_checkpoint_get. */
ddp_status ddp_checkpoint_load_state(const ddp_checkpoint *c, const ddp_param_table *table,
                                     ddp_state *s, int force, ddp_error *err) DDP_MUST_CHECK;

#endif
