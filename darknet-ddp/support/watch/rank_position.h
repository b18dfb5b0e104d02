/* watch/rank_position.h: where in the run a rank is, as bytes for rank 0 and as text to print. */
#ifndef DDP_WATCH_RANK_POSITION_H
#define DDP_WATCH_RANK_POSITION_H

#include <stddef.h>
#include <stdint.h>

typedef enum ddp_phase {
    DDP_PHASE_STARTING, /* before the first step */
    DDP_PHASE_LOADING,  /* waits for samples */
    DDP_PHASE_FORWARD,
    DDP_PHASE_BACKWARD,
    DDP_PHASE_WAITING, /* waits for other ranks: for a sum, or for what they send */
    DDP_PHASE_UPDATING,
    DDP_PHASE_SAVING,
    DDP_PHASE_VALIDATING,
    DDP_PHASE_ENDING,
    DDP_PHASES
} ddp_phase;

/* A rank's position in the run. Plain bytes, to be sent as they are between ranks of one build. */
typedef struct ddp_rank_position {
    uint64_t moves;     /* count of all that the rank has done, such as layers; a hang stops it */
    uint64_t step;      /* step under way, from 1; 0: none yet */
    int32_t phase;      /* a ddp_phase */
    int32_t mini_batch; /* mini-batch of this rank in this step, from 0 */
    int32_t layer;      /* layer that the rank computes, or computed last; -1: none */
    int32_t bucket;     /* bucket for whose sum or all-gather the rank waits; -1: none */
} ddp_rank_position;

/* Return 1 if a phase may take as long as ddp_watch_config.io_timeout_s: it waits for disks. */
int ddp_phase_is_io(int32_t phase);

/* Return a phase in words: "backward", "waiting for its loader"; "?" if it is none. Static text. */
const char *ddp_phase_name(int32_t phase);

/* Write the position to out, of `size` bytes: "step 12, mini-batch 2, backward, layer 81", with
 * mini-batches counted from 1. Always ended by a zero. */
void ddp_rank_position_describe(char *out, size_t size, const ddp_rank_position *p);

#endif
