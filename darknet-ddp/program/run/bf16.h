/* run/bf16.h: what -ddp_bf16 needs in a run: a decision, and a line of the banner. */
#ifndef DDP_RUN_BF16_H
#define DDP_RUN_BF16_H

#include "base/status.h"
#include "options/options.h"
#include "trainer/trainer.h"

#include <stdio.h>

/* Set *out to 1 if the run computes in bf16, else 0. With auto it does if bf16 is faster on every
 * rank; blocks until every rank is here. Fails with DDP_ERR_USAGE if -ddp_bf16 is 1 and this rank
 * cannot; with auto, with DDP_ERR_NOMEM and DDP_ERR_COMM. */
ddp_status ddp_bf16_run_decide(int *out, const ddp_options *o, ddp_group *group,
                               ddp_error *err) DDP_MUST_CHECK;

/* Print a line about how much of the network runs in bf16, and by what. If auto has chosen float32,
 * say so; without the option print nothing. t is attached to its network. */
void ddp_bf16_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

#endif
