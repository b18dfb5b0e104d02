/* state/weights_hash.h: a hash that tells which weights a network has loaded. */
#ifndef DDP_STATE_WEIGHTS_HASH_H
#define DDP_STATE_WEIGHTS_HASH_H

#include "base/status.h"
#include "glue/network.h"

#include <stdint.h>

/* Set *hash to a hash of net's parameters, BatchNorm statistics and count of images. net is on the
 * host, as parsed and loaded. Fails with DDP_ERR_USAGE (a layer of an unknown type is updated),
 * DDP_ERR_NOMEM. */
ddp_status ddp_weights_hash(uint64_t *hash, network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
