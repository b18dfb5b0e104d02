/* watch/rank_position.h: where a rank is, as it tells the others, and in words. */
#ifndef DDP_WATCH_RANK_POSITION_H
#define DDP_WATCH_RANK_POSITION_H

#include <stddef.h>
#include <stdint.h>

typedef enum ddp_phase {
    DDP_PHASE_STARTING, /* before the first step */
    DDP_PHASE_LOADING,  /* waits for its loader */
    DDP_PHASE_FORWARD,
    DDP_PHASE_BACKWARD,
    DDP_PHASE_WAITING, /* for a sum over ranks */
    DDP_PHASE_UPDATING,
    DDP_PHASE_SAVING,
    DDP_PHASE_VALIDATING,
    DDP_PHASE_ENDING,
    DDP_PHASES
} ddp_phase;

/* Travels between ranks of one build as it is. */
typedef struct ddp_rank_position {
    uint64_t moves;     /* rises with all that is done; standing still is the alarm */
    uint64_t step;      /* that is under way, from 1; 0: none yet */
    int32_t phase;      /* ddp_phase */
    int32_t mini_batch; /* of the rank's in this step, from 0 */
    int32_t layer;      /* -1: none */
    int32_t bucket;     /* that is waited for; -1: none */
    int32_t peer;       /* rank that owes a message; -1: not known */
    int32_t unused;
} ddp_rank_position;

/* Does time in this phase count apart, because a disk may take long? */
int ddp_phase_is_io(int32_t phase);

/* One word for a phase; "?" for what is none. */
const char *ddp_phase_name(int32_t phase);

/* "step 12, mini-batch 2, backward, layer 81" into out, always ended. */
void ddp_rank_position_describe(char *out, size_t size, const ddp_rank_position *p);

#endif
