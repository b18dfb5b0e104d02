/* checkpoint/cfg_compare.h: finds the differences between two cfgs. Sections are compared in their
 * order, values as text. Comments, blanks, empty lines and the order of a section's keys do not
 * matter. If a section has a key twice, the first counts. */
#ifndef DDP_CHECKPOINT_CFG_COMPARE_H
#define DDP_CHECKPOINT_CFG_COMPARE_H

#include "base/status.h"

#include <stddef.h>

/* Called for one difference. sentence: says where it is, what was there and what is there now;
 * without a newline, valid during the call. */
typedef void ddp_cfg_difference(void *ctx, const char *sentence);

/* Compare two cfgs, was[0..was_bytes) and now[0..now_bytes).
 *   hear   called with ctx for each difference, up to the first section of another type.
 *          Differences are then no error. NULL: fail with DDP_ERR_MISMATCH at the first
 * Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_cfg_difference *hear, void *ctx, ddp_error *err) DDP_MUST_CHECK;

#endif
