/* run/bad_samples.h: the list of samples that could not be read, printed at the run's end. */
#ifndef DDP_RUN_BAD_SAMPLES_H
#define DDP_RUN_BAD_SAMPLES_H

#include "base/status.h"
#include "comm/group.h"
#include "samples/bad_samples.h"

/* Print on rank 0, on standard output, a sorted line for each file that any rank could not read.
 * mine: this rank's record of such files. Collective. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. A
 * rank that fails must end the job, since other ranks may wait for it. */
ddp_status ddp_bad_samples_print(ddp_group *group, ddp_bad_samples *mine,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
