/* run/bf16.h: what -ddp_bf16 needs in a run: a check of the device, and a line of the banner. */
#ifndef DDP_RUN_BF16_H
#define DDP_RUN_BF16_H

#include "base/status.h"
#include "options/options.h"
#include "trainer/trainer.h"

#include <stdio.h>

/* Fail with DDP_ERR_USAGE if -ddp_bf16 is given and the group computes on CPUs. */
ddp_status ddp_bf16_run_check_device(const ddp_options *o, const ddp_group *group,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Print a line about how much of the network runs in bf16; without the option nothing. t is
 * attached to its network. */
void ddp_bf16_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

#endif
