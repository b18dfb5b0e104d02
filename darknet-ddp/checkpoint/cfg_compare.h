/* checkpoint/cfg_compare.h: what differs between two cfgs, as Darknet reads them. */
#ifndef DDP_CHECKPOINT_CFG_COMPARE_H
#define DDP_CHECKPOINT_CFG_COMPARE_H

#include "base/status.h"

#include <stddef.h>

/* Compare the texts was[0..was_bytes) and now[0..now_bytes) without comments, blanks
 * and empty lines. Sections are compared in their order, the keys of one in any; of
 * a key that is there twice Darknet takes the first.
 * DDP_ERR_MISMATCH names the first difference: section, key, both values, both lines.
 * Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
