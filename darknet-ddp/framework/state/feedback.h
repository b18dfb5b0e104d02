/* state/feedback.h: what compression remembers (core/feedback.h), as a state file has it:
 * behind all other arrays, of each parameter that is compressed Q, with PowerSGD, and the error of
 * each rank. */
#ifndef DDP_STATE_FEEDBACK_H
#define DDP_STATE_FEEDBACK_H

#include "checkpoint/checkpoint.h"
#include "core/feedback.h"
#include "core/params.h"

/* Its names. */
extern const char ddp_checkpoint_q_name[];
enum { DDP_CHECKPOINT_ERROR_NAME = 16 };
void ddp_checkpoint_error_name(char out[DDP_CHECKPOINT_ERROR_NAME], int rank);

/* How many of c's arrays are others. */
size_t ddp_checkpoint_without_feedback(const ddp_checkpoint *c);

/* Fill f, of this table, with what c has: Q, and the errors of so many ranks as its run had.
 * DDP_ERR_MISMATCH: it lacks some, or has others; with force these are left, and what it lacks is
 * zero. Fails also with DDP_ERR_NOMEM, and as ddp_checkpoint_get. */
ddp_status ddp_checkpoint_load_feedback(const ddp_checkpoint *c, const ddp_table *table,
                                        ddp_feedback *f, int force, ddp_error *err) DDP_MUST_CHECK;

#endif
