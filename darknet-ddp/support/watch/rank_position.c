#include "watch/rank_position.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[DDP_PHASES] = {"starting", "waiting for its loader",
                                              "forward",  "backward",
                                              "waiting",  "updating",
                                              "saving",   "validating",
                                              "ending"};

int ddp_phase_is_io(int32_t phase)
{
    return phase == DDP_PHASE_LOADING || phase == DDP_PHASE_SAVING || phase == DDP_PHASE_STARTING
           || phase == DDP_PHASE_VALIDATING;
}

const char *ddp_phase_name(int32_t phase)
{
    return phase >= 0 && phase < DDP_PHASES ? names[phase] : "?";
}

void ddp_rank_position_describe(char *out, size_t size, const ddp_rank_position *p)
{
    char step[64] = "", layer[32] = "", bucket[32] = "";

    if (p->step > 0)
        (void)snprintf(step, sizeof step, "step %" PRIu64 ", mini-batch %d, ", p->step,
                       p->mini_batch + 1);
    if (p->layer >= 0 && (p->phase == DDP_PHASE_FORWARD || p->phase == DDP_PHASE_BACKWARD))
        (void)snprintf(layer, sizeof layer, ", layer %d", p->layer);
    if (p->bucket >= 0)
        (void)snprintf(bucket, sizeof bucket, " for bucket %d", p->bucket);
    (void)snprintf(out, size, "%s%s%s%s", step, ddp_phase_name(p->phase), layer, bucket);
}
