/* inputs/same_cfg.h: do all ranks read the same cfg? */
#ifndef DDP_INPUTS_SAME_CFG_H
#define DDP_INPUTS_SAME_CFG_H

#include "base/status.h"
#include "comm/group.h"

/* Compare the contents of the cfg. Sizes and schedule, which say more when they
 * differ, are compared when a network is attached; this finds the rest: an activation, an
 * anchor. Blocks. Fails with DDP_ERR_MISMATCH, DDP_ERR_IO, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_same_cfg(ddp_group *group, const char *cfg, ddp_error *err) DDP_MUST_CHECK;

#endif
