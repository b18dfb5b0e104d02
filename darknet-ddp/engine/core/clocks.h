/* core/clocks.h: how far the clocks of ranks are apart.
 *
 * Rank 0 sends a message and a rank answers with its clock; the answer was given between the two,
 * so half of the time of the way there and back is the most that the offset can be wrong. Of
 * several tries the fastest counts. Source: Cristian 1989, Probabilistic clock synchronization. */
#ifndef DDP_CORE_CLOCKS_H
#define DDP_CORE_CLOCKS_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

typedef struct ddp_clock_offset {
    int64_t offset_ns; /* what ddp_clock_ns of the rank is ahead of rank 0's */
    int64_t error_ns;  /* it is that, plus or minus this */
} ddp_clock_offset;

/* all[0..size) become the offsets of the ranks, on every rank; of rank 0 both are 0. Blocks until
 * every rank is here. Fails with DDP_ERR_COMM. */
ddp_status ddp_clocks_compare(ddp_clock_offset *all, ddp_group *group,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
