/* core/option_names.h: the names of options that an error of core/ advises to change. core/ knows
 * no command line, so the program passes the names in. */
#ifndef DDP_CORE_OPTION_NAMES_H
#define DDP_CORE_OPTION_NAMES_H

typedef struct ddp_option_names {
    const char *exact; /* option for the same bits on 1, 2, 4, ... ranks */
    const char *batch; /* option for ddp_batch_mode; an error puts one of its words after it */
    /* option for how many batches make an update; an error puts a number after it */
    const char *sync_every;
    /* option for when statistics are shared; an error puts "step" after it */
    const char *buffers;
    const char *find_unused; /* option that allows unused layers; an error puts "1" after it */
} ddp_option_names;

/* Plain words ("batch mode") in place of names. A function that gets NULL uses them. */
extern const ddp_option_names ddp_plain_option_names;

#endif
