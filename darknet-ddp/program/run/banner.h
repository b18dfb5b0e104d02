/* run/banner.h: prints the banner, lines about a run, before its first step. */
#ifndef DDP_RUN_BANNER_H
#define DDP_RUN_BANNER_H

#include "comm/group.h"
#include "core/batch.h"
#include "launch/gpus.h"
#include "options/options.h"
#include "trainer/trainer.h"

#include <stdio.h>

/* Print the banner, the lines that describe a run, to out. Not collective. t must be attached to
 * its network. */
void ddp_banner_print(FILE *out, const ddp_group *group, const ddp_gpus *gpus, const ddp_trainer *t,
                      const ddp_options *options, uint64_t seed);

/* Print "batch 64 = 4 ranks x 2 mini-batches x 8 images" to out, without a newline. If there are
 * several time steps, " x 3 time steps" stands behind. */
void ddp_banner_print_batch(FILE *out, ddp_batch batch, int ranks);

#endif
