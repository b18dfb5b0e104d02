/* saves/resume_messages.h: prints, with -resume, which checkpoint a run goes on from, or why it
 * does not. On rank 0. */
#ifndef DDP_SAVES_RESUME_MESSAGES_H
#define DDP_SAVES_RESUME_MESSAGES_H

#include "algorithms/set.h"
#include "base/status.h"
#include "state/checkpoint.h"

/* Listener for ddp_checkpoint_resume that prints which checkpoints it cannot use, and why. */
extern const ddp_pair_listener ddp_resume_printer;

/* Print which checkpoint the run goes on from, or that there is none (from->weights is NULL). Fails
 * with DDP_ERR_USAGE if there is none although the job was restarted to go on from one.
 *   algorithms  algorithms of the run; NULL: none */
ddp_status ddp_resume_tell(const ddp_resumed *from, const ddp_checkpoint_run *run,
                           const ddp_algorithm_set *algorithms, const char *directory,
                           ddp_error *err) DDP_MUST_CHECK;

/* Add to *err, the error of a resume or its check, what the user can do, if anything.
 * DDP_ERR_MISMATCH (another run is asked for) becomes DDP_ERR_USAGE. Returns err->code. */
ddp_status ddp_resume_explain(const ddp_resumed *from, const ddp_checkpoint_run *run,
                              const char *directory, const char *base,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
