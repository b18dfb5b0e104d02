/* timing/replay.h: a network whose layers compute nothing: they sleep as long as a profile says.
 * All else is real: hooks, gradients' memory, sums over ranks. So many ranks can run on few cores,
 * or ranks with a GPU's speed without one. */
#ifndef DDP_TIMING_REPLAY_H
#define DDP_TIMING_REPLAY_H

#include "core/layer_profile.h"
#include "glue/network.h"

/* Let net's layers sleep from now on, for good: one network in a process, on the host. profile is
 * of net's cfg and must outlive net. Forward and backward times are scaled from the profile's
 * mini-batch to net's; update times are not. With a CPU's profile, the time in which messages are
 * moved adds to a layer's time. With a GPU's, a layer's time goes on meanwhile. */
void ddp_replay_begin(network *net, const ddp_layer_profile *profile);

#endif
