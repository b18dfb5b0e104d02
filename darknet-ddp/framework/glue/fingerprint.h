/* glue/fingerprint.h: describes a rank's network, version and seed, as text that ranks compare.
 *
 * Values of parameters and counters are not in it, since all ranks get those of one rank. Options
 * and the cfg's text are compared elsewhere. */
#ifndef DDP_GLUE_FINGERPRINT_H
#define DDP_GLUE_FINGERPRINT_H

#include "base/status.h"
#include "core/params.h"

#include <darknet.h>
#include <stdint.h>

/* Set *text to lines about what the networks of all ranks must have in common. These are version,
 * seed, batch, main numbers of the schedule, input size, first trained layer, and each parameter's
 * layer, type and size. The caller frees *text, which is NULL on failure (DDP_ERR_NOMEM). */
ddp_status ddp_fingerprint(char **text, const network *net, const ddp_param_table *table,
                           uint64_t seed, ddp_error *err) DDP_MUST_CHECK;

#endif
