/* cli/banner.h: the lines that say what a run is, before its first step. */
#ifndef DDP_CLI_BANNER_H
#define DDP_CLI_BANNER_H

#include "cli/options.h"
#include "comm/group.h"
#include "glue/trainer.h"

#include <stdio.h>

/* Print them. t is attached. */
void ddp_banner_print(FILE *out, const ddp_group *group, const ddp_trainer *t,
                      const ddp_options *options, uint64_t seed);

#endif
