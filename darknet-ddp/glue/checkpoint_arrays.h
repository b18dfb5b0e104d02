/* glue/checkpoint_arrays.h: the arrays of a state file. */
#ifndef DDP_GLUE_CHECKPOINT_ARRAYS_H
#define DDP_GLUE_CHECKPOINT_ARRAYS_H

#include "checkpoint/checkpoint.h"
#include "glue/slow_momentum.h"
#include "glue/table.h"

/* The name of an array that holds a parameter itself, not its optimizer state. */
extern const char ddp_checkpoint_value_name[];

/* Optimizer state, slow momentum unless it is NULL, and, where the weights file would not do, the
 * values. *list is the caller's to
 * free, and NULL on failure; its arrays are the table's. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_list(ddp_checkpoint_array **list, size_t *count, const ddp_table *table,
                               const ddp_slow_momentum *slow, int with_values,
                               ddp_error *err) DDP_MUST_CHECK;

#endif
