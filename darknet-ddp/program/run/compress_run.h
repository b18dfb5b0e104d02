/* run/compress_run.h: what is checked and said of a run with -ddp_compress. */
#ifndef DDP_RUN_COMPRESS_RUN_H
#define DDP_RUN_COMPRESS_RUN_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/trainer.h"
#include "options/options.h"

#include <stdio.h>

/* DDP_ERR_USAGE: what was asked for does not pay on so many ranks. */
ddp_status ddp_compress_run_check_ranks(const ddp_options *o, int ranks,
                                        ddp_error *err) DDP_MUST_CHECK;

/* The line of the banner: how gradients travel; nothing where they travel as they are. t is
 * attached. */
void ddp_compress_run_print(FILE *out, const ddp_options *o, const ddp_group *group,
                            const ddp_trainer *t);

/* On rank 0, of a run that goes on on another number of ranks: what becomes of the errors that
 * `was` ranks have left, 0 where there are none. */
void ddp_compress_run_print_resumed(const ddp_options *o, int was, int now);

#endif
