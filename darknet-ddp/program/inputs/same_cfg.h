/* inputs/same_cfg.h: checks that all ranks read the same cfg. */
#ifndef DDP_INPUTS_SAME_CFG_H
#define DDP_INPUTS_SAME_CFG_H

#include "base/status.h"
#include "comm/group.h"

/* Fail with DDP_ERR_MISMATCH if the contents of the file cfg are not the same on all ranks. Call
 * after attaching the trainer, which finds layers of other sizes with a better error. Collective.
 * A rank that cannot read the file fails with DDP_ERR_IO, and must end the job, since others wait
 * for it. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_same_cfg(ddp_group *group, const char *cfg, ddp_error *err) DDP_MUST_CHECK;

#endif
