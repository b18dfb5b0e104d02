/* core/option_names.h: what users call what an error advises to change. core knows no command line:
 * who has one hands in its names. */
#ifndef DDP_CORE_OPTION_NAMES_H
#define DDP_CORE_OPTION_NAMES_H

typedef struct ddp_option_names {
    const char *exact;       /* a run with the same bits on any number of ranks */
    const char *batch;       /* ddp_batch_mode; "rank" or "global" stands behind it */
    const char *sync_every;  /* batches that make an update; a number stands behind it */
    const char *buffers;     /* when statistics are shared; "step" or "save" stands behind it */
    const char *find_unused; /* may a layer be skipped? "1" stands behind it */
} ddp_option_names;

/* Plain words, for who has no names: where NULL is given. */
extern const ddp_option_names ddp_plain_option_names;

#endif
