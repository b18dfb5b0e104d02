/* core/agree.h: do all ranks run the same thing? Asked before the first step.
 *
 * Ranks that were started with another cfg, build or option would mix gradients
 * of different layers or hang. Each describes what it is about to do in lines of
 * text; the texts must be equal.
 */
#ifndef DDP_CORE_AGREE_H
#define DDP_CORE_AGREE_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* Compare text, lines divided by newlines, over all ranks. Blocks.
 * DDP_ERR_MISMATCH on every rank if any differs from rank 0, with one sentence on
 * all of them: the lowest rank that differs, its host, and the first line that
 * differs, as it is on both.
 * Also DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_agree(ddp_group *group, const char *text, ddp_error *err) DDP_MUST_CHECK;

/* *odd, on every rank: the lowest rank whose hash is not rank 0's, or 0 if there is none. Blocks.
 * Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_find_odd_rank(ddp_group *group, uint64_t hash, int *odd,
                             ddp_error *err) DDP_MUST_CHECK;

#endif
