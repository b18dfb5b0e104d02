/* timing/profiler.h: measures times of a network's layers, while no message is in flight. */
#ifndef DDP_TIMING_PROFILER_H
#define DDP_TIMING_PROFILER_H

#include "core/layer_profile.h"
#include "device/device.h"
#include "glue/network.h"

/* Train `steps` steps, at least 1, and write each layer's times to *p; release *p in any case.
 * Trains on what lies in the network's input and truth, as Darknet does without a trainer: ranks'
 * parameters then differ. device: the one that net is on. A time is the median over steps and
 * mini-batches. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_layer_profile_measure(ddp_layer_profile *p, network *net, ddp_device *device,
                                     int steps, ddp_error *err) DDP_MUST_CHECK;

#endif
