/* state/arrays.h: the arrays of a state file. */
#ifndef DDP_STATE_ARRAYS_H
#define DDP_STATE_ARRAYS_H

#include "checkpoint/checkpoint.h"
#include "core/feedback.h"
#include "glue/table.h"
#include "state/slow_momentum.h"

/* The name of an array that holds a parameter itself, not its optimizer state. */
extern const char ddp_checkpoint_value_name[];

/* The name of one that holds slow momentum. */
extern const char ddp_checkpoint_slow_name[];

/* What a list has beside the optimizer's state, and where that is. */
typedef struct ddp_checkpoint_kinds {
    int slow;   /* slow momentum */
    int values; /* where the weights file would not do */
    /* Moments that updates change are shared out over ranks (core/sharded.h): they are listed
     * without data, by the key parameter * DDP_OPTIMIZER_BUFFERS + moment. */
    int shared;
} ddp_checkpoint_kinds;

/* Optimizer state and these kinds, and of feedback, unless it is NULL, what it has gathered.
 * *list is the caller's to free, names of arrays with it, and NULL on failure; its arrays are the
 * table's, feedback's and slow's, with no data where slow is NULL. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_checkpoint_list(ddp_checkpoint_array **list, size_t *count, const ddp_table *table,
                               const ddp_slow_momentum *slow, const ddp_feedback *feedback,
                               ddp_checkpoint_kinds kinds, ddp_error *err) DDP_MUST_CHECK;

#endif
