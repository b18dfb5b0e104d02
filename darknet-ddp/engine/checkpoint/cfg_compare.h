/* checkpoint/cfg_compare.h: finds the differences between two cfgs, as Darknet reads them. */
#ifndef DDP_CHECKPOINT_CFG_COMPARE_H
#define DDP_CHECKPOINT_CFG_COMPARE_H

#include "base/status.h"

#include <stddef.h>

/* Called for one difference. sentence: names section, key, both values and lines; without a
 * newline, valid during the call. */
typedef void ddp_cfg_difference(void *ctx, const char *sentence);

/* Compare two cfgs, was[0..was_bytes) and now[0..now_bytes). Comments, blanks, empty lines and the
 * order of the keys of a section do not matter. The order of sections does. If a section has a key
 * twice, the first counts, as for Darknet. If hear is NULL, the first difference is an error,
 * DDP_ERR_MISMATCH. Else hear(ctx, sentence) is called for each difference, up to the first section
 * of another type, and none is an error. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_cfg_difference *hear, void *ctx, ddp_error *err) DDP_MUST_CHECK;

#endif
