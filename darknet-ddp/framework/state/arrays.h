/* state/arrays.h: the arrays of a state file. */
#ifndef DDP_STATE_ARRAYS_H
#define DDP_STATE_ARRAYS_H

#include "checkpoint/checkpoint.h"
#include "core/state.h"
#include "glue/param_table.h"

/* The name of an array that holds a parameter itself, not its optimizer state. */
extern const char ddp_checkpoint_value_name[];

/* What a list has beside the optimizer's state, and where that is. */
typedef struct ddp_checkpoint_kinds {
    int values; /* where the weights file would not do */
    /* Moments that updates change are shared out over ranks (core/sharded.h): they are listed
     * without data, by the key parameter * DDP_OPTIMIZER_BUFFERS + moment. */
    int shared;
} ddp_checkpoint_kinds;

/* Optimizer state and these kinds, and of state, unless it is NULL, what is to be saved.
 * *list is the caller's to free, names of arrays with it, and NULL on failure; its arrays are the
 * table's and the state's. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_list(ddp_checkpoint_array **list, size_t *count,
                               const ddp_param_table *table, const ddp_state *state,
                               ddp_checkpoint_kinds kinds, ddp_error *err) DDP_MUST_CHECK;

#endif
