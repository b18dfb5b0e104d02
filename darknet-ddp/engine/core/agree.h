/* core/agree.h: checks before the first step that all ranks run the same thing.
 *
 * Ranks that were started with another cfg, build or option would sum gradients of different
 * layers, or hang. So each rank describes what it will do in lines of text, and the texts of all
 * ranks must be equal. */
#ifndef DDP_CORE_AGREE_H
#define DDP_CORE_AGREE_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* Compare a text of every rank with rank 0's. text: lines divided by newlines. Every rank calls it;
 * blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM.
 *
 * Fails with DDP_ERR_MISMATCH on every rank if any text differs. The error compares rank 0's text
 * with that of the lowest rank that differs. It shows up to 104 characters of their first different
 * line, and names ranks that have either text (ddp_rank_names). */
ddp_status ddp_agree(ddp_group *group, const char *text, ddp_error *err) DDP_MUST_CHECK;

/* Whether ranks have different hashes, and which ranks, for an error message. */
typedef struct ddp_hash_difference {
    int differ;            /* 0: all ranks have one hash, and all fields are 0; else 1 */
    int rank;              /* lowest rank whose hash is not rank 0's */
    int rank_count;        /* how many ranks have the hash of rank `rank` */
    char ranks[112];       /* ddp_rank_names of the ranks with the hash of `rank` */
    char like_rank_0[112]; /* ddp_rank_names of the ranks with rank 0's hash */
} ddp_hash_difference;

/* Compare a hash of every rank with rank 0's, and describe the difference in *out, the same on
 * every rank. If there are three hashes or more, ranks of the third are not named. Every rank calls
 * it; blocks. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_compare_hashes(ddp_hash_difference *out, ddp_group *group, uint64_t hash,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
