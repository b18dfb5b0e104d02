/* show/run_messages.h: prints lines that several parts of a run have in common. */
#ifndef DDP_SHOW_RUN_MESSAGES_H
#define DDP_SHOW_RUN_MESSAGES_H

#include "base/status.h"

/* Print that the file `path` is kept as `to`, because another file gets its name. why: words about
 * the file, such as "which this run has not saved". */
void ddp_print_kept(const char *path, const char *why, const char *to);

/* Print on standard error what has failed (format and arguments as of printf), and that the run
 * goes on. */
void ddp_print_goes_on(const char *fmt, ...) DDP_PRINTF(1, 2);

#endif
