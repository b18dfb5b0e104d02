/* timing/profiler.h: measures how long each layer of a network computes, without communication. */
#ifndef DDP_TIMING_PROFILER_H
#define DDP_TIMING_PROFILER_H

#include "core/layer_profile.h"
#include "device/device.h"
#include "glue/network.h"
#include "watch/watch.h"

/* Train `steps` steps, at least 1, on the images in net->input and net->truth, and set *p to the
 * median times of each layer. Trains without the trainer, so that ranks' parameters differ
 * afterwards; call ddp_trainer_flush before. On a GPU, net's moments must not be sharded
 * (-ddp_shard_optimizer). The caller releases *p, also after a failure. Fails with DDP_ERR_NOMEM.
 *   device  the one that net is on
 *   watch   is told that this rank moves; NULL: none */
ddp_status ddp_layer_profile_measure(ddp_layer_profile *p, network *net, ddp_device *device,
                                     ddp_watch *watch, int steps, ddp_error *err) DDP_MUST_CHECK;

#endif
