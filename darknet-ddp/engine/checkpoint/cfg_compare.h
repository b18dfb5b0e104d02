/* checkpoint/cfg_compare.h: what differs between two cfgs, as Darknet reads them. */
#ifndef DDP_CHECKPOINT_CFG_COMPARE_H
#define DDP_CHECKPOINT_CFG_COMPARE_H

#include "base/status.h"

#include <stddef.h>

/* Is told of one difference, in a sentence without a newline that lives for the call: section, key,
 * both values and lines. */
typedef void ddp_cfg_difference(void *ctx, const char *sentence);

/* Compare two cfgs, was[0..was_bytes) and now[0..now_bytes), without comments, blanks and empty
 * lines. Sections are compared in their order, the keys within a section in any order. If a key is
 * there twice, the first counts, as for Darknet. With hear NULL, fails with DDP_ERR_MISMATCH, which
 * names the first difference. Else differences are no error: hear(ctx, sentence) is called for
 * each, up to the first section of another type. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_cfg_difference *hear, void *ctx, ddp_error *err) DDP_MUST_CHECK;

#endif
