/* check/rate.h: what a cfg says of the learning rate, and cannot be meant. */
#ifndef DDP_CHECK_RATE_H
#define DDP_CHECK_RATE_H

#include "base/cfg_text.h"
#include "check/faults.h"

/* Add to f, as warnings "cfg-rate", of the [net] of the cfg at path: a rate of 0, a burn_in= as
 * long as the run, steps= that nothing reads or that do not rise. */
void ddp_check_rate(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

#endif
