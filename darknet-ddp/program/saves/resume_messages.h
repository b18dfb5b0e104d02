/* saves/resume_messages.h: messages of a run that is to be resumed, on rank 0: what it goes on
 * from, or why it does not. */
#ifndef DDP_SAVES_RESUME_MESSAGES_H
#define DDP_SAVES_RESUME_MESSAGES_H

#include "algorithms/set.h"
#include "base/status.h"
#include "state/checkpoint.h"

/* Listener that prints why ddp_checkpoint_resume has passed a pair over, and its other notes. */
extern const ddp_pair_listener ddp_resume_printer;

/* Print what the run goes on from, or that there is nothing (from->weights is NULL). algorithms:
 * those of the run; NULL: none. Fails with DDP_ERR_USAGE if there is nothing, and the job was
 * started again to go on from a checkpoint. */
ddp_status ddp_resume_tell(const ddp_resumed *from, const ddp_checkpoint_run *run,
                           const ddp_algorithm_set *algorithms, const char *directory,
                           ddp_error *err) DDP_MUST_CHECK;

/* Add to *err, with which ddp_checkpoint_resume has failed, what the user may do. DDP_ERR_MISMATCH
 * becomes DDP_ERR_USAGE, since the command line asks for another run. Returns err->code. */
ddp_status ddp_resume_explain(const ddp_resumed *from, const ddp_checkpoint_run *run,
                              const char *directory, const char *base,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
