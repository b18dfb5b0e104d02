/* saves/resume.h: on rank 0, the newest checkpoint of the run's name is read, and a line says what
 * the run goes on from, or an error why it does not. */
#ifndef DDP_SAVES_RESUME_H
#define DDP_SAVES_RESUME_H

#include "algorithms/set.h"
#include "base/status.h"
#include "state/checkpoint.h"

typedef struct ddp_resume_config {
    const ddp_checkpoint_run *run;
    const ddp_algorithm_set *algorithms; /* NULL: none */
    const char *directory;
    const char *first_weights; /* what the network was loaded from; NULL: nothing */
    int has_earlier;           /* a pair of this name is in directory */
} ddp_resume_config;

/* As ddp_checkpoint_resume; where no pair is in the directory that of an earlier run, which was set
 * aside, comes back first. from->weights stays NULL where there is nothing to go on from. Release
 * *from in any case. Fails as that does, with DDP_ERR_USAGE in place of DDP_ERR_MISMATCH, and where
 * a restarted job finds nothing. */
ddp_status ddp_resume_newest(ddp_resumed *from, network *net, const ddp_resume_config *c,
                             ddp_error *err) DDP_MUST_CHECK;

/* Turn DDP_ERR_MISMATCH into DDP_ERR_USAGE: ranks and files agree, and the command line asks for
 * another run. */
ddp_status ddp_resume_refuse(const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

#endif
