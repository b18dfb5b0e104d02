/* timing/replay.h: a network whose layers compute nothing: they sleep as long as a profile says.
 *
 * All else is real: hooks, gradients' memory, sums over ranks. So many ranks can be run on few
 * cores, or ranks with a GPU's speed on none. */
#ifndef DDP_TIMING_REPLAY_H
#define DDP_TIMING_REPLAY_H

#include "core/layer_profile.h"
#include "glue/network.h"

/* From here on, of one network in a process, on the host. profile is of net and must outlive it;
 * times are scaled from the profile's images to net's, but for the update's. Where the profile is a
 * CPU's, sums take their time from the layers'; a GPU's go on meanwhile. */
void ddp_replay_begin(network *net, const ddp_layer_profile *profile);

#endif
