/* glue/fingerprint.h: describes the network of a rank, as text that ranks compare. */
#ifndef DDP_GLUE_FINGERPRINT_H
#define DDP_GLUE_FINGERPRINT_H

#include "base/status.h"
#include "core/params.h"

#include <darknet.h>
#include <stdint.h>

/* Set *text to lines on what the networks of all ranks must have in common: version, seed, batch,
 * main numbers of the schedule, input size and first trained layer. Each parameter has a line with
 * its layer, type and size. Options and the cfg's text are compared elsewhere. Values of parameters
 * and counters are not in the text, since all ranks get rank 0's. The caller frees *text. Fails
 * with DDP_ERR_NOMEM; *text is then NULL. */
ddp_status ddp_fingerprint(char **text, const network *net, const ddp_param_table *table,
                           uint64_t seed, ddp_error *err) DDP_MUST_CHECK;

#endif
