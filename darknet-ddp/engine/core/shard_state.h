/* core/shard_state.h: what the shard's own files share: shard.c (which elements are this rank's,
 * and a step) and shard_ask.c (what rank 0 asks of others for a checkpoint). Not for others. */
#ifndef DDP_CORE_SHARD_STATE_H
#define DDP_CORE_SHARD_STATE_H

#include "core/shard.h"

/* Elements begin to end of a parameter, which some rank has. */
typedef struct ddp_shard_place {
    size_t param, begin, end;
} ddp_shard_place;

struct ddp_shard {
    ddp_shard_of of;
    ddp_range **ranges; /* by bucket: this rank's, from the bucket's start */
    size_t *range_count;
    ddp_shard_part *parts; /* by parameter */
    size_t part_count;
    size_t *first_part; /* param_count + 1 entries: parts[first[i] .. first[i + 1]) */
    float *moments;     /* of all parts */
    size_t count;       /* of its floats */
    int has_taken;      /* the framework has none any more */

    float *scratch; /* DDP_SHARD_BLOCK floats, on the host */
    /* On rank 0, of every rank: */
    ddp_shard_place *places; /* rank by rank, each one's by parameter */
    size_t *first_place;     /* one entry more than ranks: places[first[r] .. first[r + 1]) */
    size_t *bytes;           /* that are to be gathered */
};

static inline ddp_device *ddp_shard_device(const ddp_shard *s)
{
    return s->of.table->device;
}

/* Rank 0 gets to know where each rank's parts are. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_shard_tell_places(ddp_shard *s, ddp_error *err) DDP_MUST_CHECK;

#endif
