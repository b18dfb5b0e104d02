/* cli/autotune_found.h: what -ddp_autotune 1 has found: where it is kept, and how it is said. Rank
 * 0 alone. */
#ifndef DDP_CLI_AUTOTUNE_FOUND_H
#define DDP_CLI_AUTOTUNE_FOUND_H

#include "cli/options.h"
#include "cli/tune_file.h"
#include "comm/group.h"
#include "glue/trainer.h"

/* NAME.tune of a run. */
typedef struct ddp_tune_place {
    char *path, *key; /* NULL: it cannot be kept */
    const char *why;  /* the file is no use; NULL: it is, or there is none */
} ddp_tune_place;

/* *found is set, or all 0 where there is none. Path and key stay until the program ends. */
ddp_tune_place ddp_tune_place_open(const ddp_options *options, const ddp_group *group,
                                   const ddp_trainer *trainer, const char *directory,
                                   const char *cfg, ddp_tune_found *found);

/* Returns whether it is there. Says why not. */
int ddp_tune_place_write(const ddp_tune_place *place, const ddp_tune_found *found);

/* begin: how the line begins. Chunks are those that the group has; where: they are kept. */
void ddp_tune_print_buckets(const char *begin, const ddp_tune_found *found);
void ddp_tune_print_chunks(const char *begin, const ddp_tune_found *found, ddp_chunks chunks,
                           const char *where);

/* What was tried beside them, in turns: the buckets of each, or its chunks, and the median of a
 * step with it. */
void ddp_tune_print_tried(const ddp_tuning *tried, const double *step_s, size_t count, int chunks);

#endif
