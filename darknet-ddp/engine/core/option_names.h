/* core/option_names.h: the names of the options that an error message advises to change. core knows
 * no command line: a program that has one hands in its names. */
#ifndef DDP_CORE_OPTION_NAMES_H
#define DDP_CORE_OPTION_NAMES_H

typedef struct ddp_option_names {
    const char *exact;       /* a run with the same bits on any number of ranks */
    const char *batch;       /* ddp_batch_mode; "rank" or "global" follows it */
    const char *sync_every;  /* batches that make an update; a number follows it */
    const char *buffers;     /* when statistics are shared; "step" or "save" follows it */
    const char *find_unused; /* may a layer be skipped? "1" follows it */
} ddp_option_names;

/* Plain words, for a program that hands in no names (NULL). */
extern const ddp_option_names ddp_plain_option_names;

#endif
