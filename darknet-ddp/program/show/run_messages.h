/* show/run_messages.h: lines that several parts of a run print, one rule each. */
#ifndef DDP_SHOW_RUN_MESSAGES_H
#define DDP_SHOW_RUN_MESSAGES_H

#include "base/status.h"

/* Print that the file `path`, whose name is wanted for another, is kept as `to`. why: what the file
 * is, such as "which this run has not saved". */
void ddp_print_kept(const char *path, const char *why, const char *to);

/* Print to standard error what has failed, as by printf, and that the run goes on. */
void ddp_print_goes_on(const char *fmt, ...) DDP_PRINTF(1, 2);

#endif
