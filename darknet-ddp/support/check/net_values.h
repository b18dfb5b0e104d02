/* check/net_values.h: what [net] of a cfg says of training, and cannot be meant. */
#ifndef DDP_CHECK_NET_VALUES_H
#define DDP_CHECK_NET_VALUES_H

#include "base/cfg_text.h"
#include "check/faults.h"

/* Add to f, as warnings "cfg-rate", of the [net] of the cfg at path: a rate of 0, a burn_in= as
 * long as the run, steps= that nothing reads, that do not rise or that no batch reaches, scales=
 * that raise the rate to more than ten times. */
void ddp_check_rate(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

/* The same, as "cfg-batch", of a batch of one picture. */
void ddp_check_batch_of_one(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

/* The same, as "cfg-value", of colours and weight decay of which little is left to learn from. */
void ddp_check_amounts(ddp_faults *f, const char *path, const ddp_cfg_text *cfg);

#endif
