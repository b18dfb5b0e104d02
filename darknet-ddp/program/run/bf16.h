/* run/bf16.h: decides whether a run computes in bf16 (-ddp_bf16), and prints that. */
#ifndef DDP_RUN_BF16_H
#define DDP_RUN_BF16_H

#include "base/status.h"
#include "options/options.h"
#include "trainer/trainer.h"

#include <stdio.h>

/* Set *out to 1 if the run computes in bf16, else 0. With -ddp_bf16 auto it does if bf16 is faster
 * on every rank; the call is then collective, and may fail with DDP_ERR_NOMEM and DDP_ERR_COMM.
 * Fails with DDP_ERR_USAGE if -ddp_bf16 is 1 and this rank cannot. */
ddp_status ddp_bf16_run_decide(int *out, const ddp_options *o, ddp_group *group,
                               ddp_error *err) DDP_MUST_CHECK;

/* Print how many layers compute in bf16, or that `auto` has chosen float32. Without -ddp_bf16 print
 * nothing. Call after ddp_bf16_run_decide; o->bf16 must be what it has decided, no longer `auto`. t
 * must be attached to its network. */
void ddp_bf16_run_print(FILE *out, const ddp_options *o, const ddp_trainer *t);

#endif
