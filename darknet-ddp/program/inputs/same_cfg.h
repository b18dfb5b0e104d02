/* inputs/same_cfg.h: checks that all ranks read the same cfg. */
#ifndef DDP_INPUTS_SAME_CFG_H
#define DDP_INPUTS_SAME_CFG_H

#include "base/status.h"
#include "comm/group.h"

/* Compare the contents of the file cfg over all ranks. Attaching a network compares sizes and
 * schedule, with errors that say more; this finds other differences, such as an activation.
 * Collective. Fails with DDP_ERR_MISMATCH, DDP_ERR_IO, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_same_cfg(ddp_group *group, const char *cfg, ddp_error *err) DDP_MUST_CHECK;

#endif
