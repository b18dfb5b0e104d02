/* glue/fingerprint.h: describes the network of a rank, as text that ranks compare. */
#ifndef DDP_GLUE_FINGERPRINT_H
#define DDP_GLUE_FINGERPRINT_H

#include "base/status.h"
#include "core/params.h"

#include <darknet.h>
#include <stdint.h>

/* Set *text to lines on all that must be the same on every rank: version, seed, batch, schedule,
 * and the layer, type and size of each parameter. Values of parameters and counters are not in it,
 * since all ranks get rank 0's. The caller frees *text. Fails with DDP_ERR_NOMEM; *text is then
 * NULL. */
ddp_status ddp_fingerprint(char **text, const network *net, const ddp_param_table *table,
                           uint64_t seed, ddp_error *err) DDP_MUST_CHECK;

#endif
