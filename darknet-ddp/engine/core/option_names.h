/* core/option_names.h: the names of the options that an error message advises to change. core knows
 * no command line: a program that has one hands in its names. */
#ifndef DDP_CORE_OPTION_NAMES_H
#define DDP_CORE_OPTION_NAMES_H

typedef struct ddp_option_names {
    const char *exact;      /* option for the same bits on any number of ranks */
    const char *batch;      /* option for ddp_batch_mode; "rank" or "global" follows it */
    const char *sync_every; /* option for how many batches make an update; a number follows it */
    const char *buffers;    /* option for when statistics are shared; "step" or "save" follows it */
    const char *find_unused; /* option that allows layers to be unused; "1" follows it */
} ddp_option_names;

/* Names that are plain words ("batch mode"), for callers that have none and pass NULL. */
extern const ddp_option_names ddp_plain_option_names;

#endif
