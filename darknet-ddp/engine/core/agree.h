/* core/agree.h: do all ranks run the same thing? Asked before the first step.
 *
 * Ranks that were started with another cfg, build or option would mix gradients of different layers
 * or hang. Each describes what it is about to do in lines of text; the texts must be equal. */
#ifndef DDP_CORE_AGREE_H
#define DDP_CORE_AGREE_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* Compare a text of every rank with rank 0's. text: lines divided by newlines. Every rank calls it;
 * blocks. If any text differs, fail with DDP_ERR_MISMATCH on every rank, with one sentence. The
 * sentence has the first line that differs, as rank 0 and as the lowest rank that differs have it,
 * and the ranks, with hosts, that have either text. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_agree(ddp_group *group, const char *text, ddp_error *err) DDP_MUST_CHECK;

/* Which ranks have another hash than rank 0, for an error message. */
typedef struct ddp_sides {
    int differ;       /* 0: all ranks have one hash, and all fields are 0; else 1 */
    int odd;          /* lowest rank whose hash is not rank 0's */
    int odd_count;    /* how many ranks have the hash of rank `odd` */
    char odds[112];   /* ranks with the hash of rank `odd`, in words: "ranks 1, 3 on hostb" */
    char others[112]; /* ranks with rank 0's hash, in words */
} ddp_sides;

/* Compare a hash of every rank, and fill *out. The two lists are the ranks with rank 0's hash, and
 * those with the hash of the lowest rank that differs. Ranks with a third hash are in neither.
 * Every rank calls it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_sides_find(ddp_sides *out, ddp_group *group, uint64_t hash,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
