/* show/run_log.h: NAME.log, a copy of what rank 0 prints.
 *
 * What is added waits in memory, 1 MiB at most, and is written about once a second. Any thread may
 * call these functions. Order of calls:
 *   1. ddp_run_log_keep: what is added from here on will be in the file;
 *   2. ddp_run_log_open, or ddp_run_log_drop if the run has no log;
 *   3. ddp_run_log_add, then ddp_run_log_write, or ddp_run_log_flush to wait for all writes. */
#ifndef DDP_SHOW_RUN_LOG_H
#define DDP_SHOW_RUN_LOG_H

#include <stddef.h>

/* Keep for the file what ddp_run_log_add gets from now on. Without this call all other functions do
 * nothing. */
void ddp_run_log_keep(void);

/* Forget what was kept, and keep nothing more. */
void ddp_run_log_drop(void);

/* Open the file, and write `head` and what was kept. If the file cannot be opened or written, a
 * line on standard error says so once.
 *   path    path of the file
 *   append  1: add to an old file; 0: rename it to PATH.old, over an older one */
void ddp_run_log_open(const char *path, int append, const char *head);

/* Add text without control characters (base/printable.h). Text is lost if more than 1 MiB would
 * wait, or without memory. Waits for ddp_run_log_open and _bring_back, not for other writes. */
void ddp_run_log_add(const char *text, size_t bytes);

/* Add a line, which must end with a newline, and replace its control characters. Calls
 * ddp_run_log_write(0), which may wait for the disk. */
void ddp_run_log_add_line(const char *line);

/* Write what waits. Does nothing while another thread writes, or before ddp_run_log_open. If `now`
 * is 0, does nothing until a second after the last write, or half a MiB waits. */
void ddp_run_log_write(int now);

/* Write all that waits; wait for other threads that write. Does nothing before ddp_run_log_open. */
void ddp_run_log_flush(void);

/* Write the file anew, with all that it had, if somebody has removed it (ddp_file_bring_back). Does
 * nothing if no log is open, or while a write of it is under way. Errors are not reported. */
void ddp_run_log_bring_back(void);

#endif
