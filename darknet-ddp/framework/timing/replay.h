/* timing/replay.h: a network whose layers compute nothing: they sleep as long as a profile says.
 * All else is real: hooks, gradients' memory, sums over ranks. So many ranks can run on few cores,
 * or ranks with a GPU's speed without one. */
#ifndef DDP_TIMING_REPLAY_H
#define DDP_TIMING_REPLAY_H

#include "core/layer_profile.h"
#include "glue/network.h"

/* Let net's layers sleep from now on, for good: one network in a process, on the host. profile is
 * of net's cfg and must outlive net. Times are scaled from the profile's images to net's, but for
 * the update's. With a CPU's profile, moving messages adds to a layer's time; with a GPU's, it
 * goes on meanwhile. */
void ddp_replay_begin(network *net, const ddp_layer_profile *profile);

#endif
