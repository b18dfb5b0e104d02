/* checkpoint/cfg_compare.h: what differs between two cfgs, as Darknet reads them. */
#ifndef DDP_CHECKPOINT_CFG_COMPARE_H
#define DDP_CHECKPOINT_CFG_COMPARE_H

#include "base/status.h"

#include <stddef.h>

/* Called with a sentence about a difference: section, key, both values, both lines. */
typedef void ddp_cfg_difference(void *ctx, const char *sentence);

/* Compare the texts was[0..was_bytes) and now[0..now_bytes) without comments, blanks
 * and empty lines. Sections are compared in their order, the keys of one in any; of
 * a key that is there twice Darknet takes the first.
 * DDP_ERR_MISMATCH names the first difference; with hear, none is an error, and hear is told of
 * each, up to the first section that is another one. Fails also with DDP_ERR_NOMEM. */
ddp_status ddp_cfg_compare(const char *was, size_t was_bytes, const char *now, size_t now_bytes,
                           ddp_cfg_difference *hear, void *ctx, ddp_error *err) DDP_MUST_CHECK;

#endif
