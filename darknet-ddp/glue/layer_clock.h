/* glue/layer_clock.h: times the layers of a network while it trains on several ranks, on a host:
 * without what the trainer's hooks take, in which messages move and are waited for. Nothing may be
 * deferred meanwhile, for such updates are made in its hooks.
 */
#ifndef DDP_GLUE_LAYER_CLOCK_H
#define DDP_GLUE_LAYER_CLOCK_H

#include "core/profile.h"
#include "glue/network.h"

typedef struct ddp_layer_clock ddp_layer_clock;

/* From here on, between two steps, of a network with a trainer: of so many mini-batches at most.
 * *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_layer_clock_open(ddp_layer_clock **out, network *net, size_t mini_batches,
                                ddp_error *err) DDP_MUST_CHECK;

/* Between two steps: the medians of what was timed, 0 where nothing was. *p is set in any case;
 * release it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_layer_clock_read(ddp_layer_clock *c, ddp_profile *p, ddp_error *err) DDP_MUST_CHECK;

/* Between two steps; the network has the trainer's hooks again. NULL is allowed. */
void ddp_layer_clock_close(ddp_layer_clock *c);

#endif
