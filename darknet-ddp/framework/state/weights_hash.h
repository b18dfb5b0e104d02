/* state/weights_hash.h: computes a hash of a network's weights and count of images. */
#ifndef DDP_STATE_WEIGHTS_HASH_H
#define DDP_STATE_WEIGHTS_HASH_H

#include "base/status.h"
#include "glue/network.h"

#include <stdint.h>

/* Set *hash to a hash of net's parameters, BatchNorm statistics and count of images, as they are on
 * the host. Fails with DDP_ERR_USAGE (an updated layer's type is unknown), DDP_ERR_NOMEM. */
ddp_status ddp_weights_hash(uint64_t *hash, network *net, ddp_error *err) DDP_MUST_CHECK;

#endif
