/* timing/replay.h: replaces the layers of a network by layers that only sleep, each for the time
 * that a profile says. Communication stays real, so that it can be measured with many ranks on few
 * cores, or at the speed of a GPU without one. */
#ifndef DDP_TIMING_REPLAY_H
#define DDP_TIMING_REPLAY_H

#include "core/layer_profile.h"
#include "glue/network.h"

/* Let net's layers sleep from now on, for good; their `outputs` become 0. Call on the training
 * thread. A process may have one such network, on the host, without sync_bn. The profile must be of
 * the same cfg, and outlive net. Forward and backward times are scaled to net's mini-batch. If a
 * CPU was profiled, moving messages makes a layer's time longer; if a GPU, it does not. */
void ddp_replay_begin(network *net, const ddp_layer_profile *profile);

#endif
