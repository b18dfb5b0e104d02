/* state/kept.h: what training keeps beside the network's own (core/state.h), as a state
 * file has it: a parameter's array by its name, and of each rank's own by that and the rank. */
#ifndef DDP_STATE_KEPT_H
#define DDP_STATE_KEPT_H

#include "checkpoint/checkpoint.h"
#include "core/params.h"
#include "core/state.h"

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
