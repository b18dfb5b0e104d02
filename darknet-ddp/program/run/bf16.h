/* run/bf16.h: -ddp_bf16: where it works, and what it is in this run. */
#ifndef DDP_RUN_BF16_H
#define DDP_RUN_BF16_H

#include "base/status.h"
#include "options/options.h"
#include "trainer/trainer.h"

#include <stdio.h>

/* DDP_ERR_USAGE: the group computes on CPUs. */
ddp_status ddp_bf16_run_check_device(const ddp_options *o, const ddp_group *group,
                                     ddp_error *err) DDP_MUST_CHECK;

/* A line about how much of the network runs in bf16; nothing without the option. t is attached. */
void ddp_bf16_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

#endif
