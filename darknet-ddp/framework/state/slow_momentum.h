/* state/slow_momentum.h: slow momentum of a network's parameters (algorithms/local_sgd), where a
 * checkpoint finds it.
 *
 * It lies beside the network: of each parameter of its table (glue/table.h), in that order, an
 * array of its size, on the host. Where the network trains on a GPU it lies there, too: push before
 * that is used, pull before the host's is read.
 */
#ifndef DDP_STATE_SLOW_MOMENTUM_H
#define DDP_STATE_SLOW_MOMENTUM_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"

typedef struct ddp_slow_momentum ddp_slow_momentum;

/* All zero. device: that net trains on; it must outlive this. *out is set on success. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_slow_momentum_open(ddp_slow_momentum **out, network *net, ddp_device *device,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_slow_momentum_close(ddp_slow_momentum *s); /* NULL is allowed */

/* Of each parameter, on the host, and on the device, which may be the same. */
float *const *ddp_slow_momentum_arrays(const ddp_slow_momentum *s);
float *const *ddp_slow_momentum_there(const ddp_slow_momentum *s);

/* The host's become the device's, or these the host's. */
void ddp_slow_momentum_pull(const ddp_slow_momentum *s);
void ddp_slow_momentum_push(const ddp_slow_momentum *s);

/* All ranks get rank 0's, on the host. Blocks. Fails with DDP_ERR_COMM. */
ddp_status ddp_slow_momentum_broadcast(const ddp_slow_momentum *s, ddp_group *group,
                                       ddp_error *err) DDP_MUST_CHECK;

#endif
