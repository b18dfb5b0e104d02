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

/* Compare text, lines divided by newlines, over all ranks. Blocks. If any rank's differs from rank
 * 0's, fail with DDP_ERR_MISMATCH on every rank, with the same sentence. It names the lowest rank
 * that differs, and the first line that differs, as both have it. It says which ranks, on which
 * hosts, have either text. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_agree(ddp_group *group, const char *text, ddp_error *err) DDP_MUST_CHECK;

/* The two sides of a disagreement, in words. */
typedef struct ddp_sides {
    int differ;     /* 0: all ranks have the same, and what follows is not set */
    int odd;        /* the lowest rank that has not rank 0's */
    int odd_count;  /* ranks that have the same as that one */
    char odds[112]; /* these, and those that have the same as rank 0 (core/rank_names.h) */
    char others[112];
} ddp_sides;

/* Who has which of these hashes, all[r] being rank r's? Where there are more than two, the rest is
 * on no side. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_sides_of(ddp_sides *out, const ddp_group *group, const uint64_t *all,
                        ddp_error *err) DDP_MUST_CHECK;

#endif
