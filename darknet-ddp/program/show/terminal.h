/* show/terminal.h: copies to NAME.log what rank 0 prints in training, and keeps a line of progress
 * at the bottom of a terminal.
 *
 * stdout and stderr become streams of show/terminal.c, for all code that prints. These replace
 * control characters (base/printable.h), and print lines above the line of progress. Output whose
 * reader has gone is dropped. NAME.log gets lines of standard error at once, and others about once
 * a second.
 *
 * Darknet prints its line about a step by train_line (patches), which calls ddp_session_show_line
 * (run/step.c). Then show/step_line.c adds figures (show/progress.c), and prints it or renews the
 * line of progress. Most other lines of Darknet's need -verbose (train_say). */
#ifndef DDP_SHOW_TERMINAL_H
#define DDP_SHOW_TERMINAL_H

#include "launch/launcher_env.h"
#include "show/line_segments.h"

#include <stdio.h>

/* Replace stdout and stderr by the streams described above. Call before anything is printed. Does
 * nothing without memory. */
void ddp_terminal_replace_streams(void);

/* Return a stream that behaves as the new stdout, but writes to the descriptor fd. Closing it
 * leaves fd open. NULL: no memory. Do not use it after ddp_terminal_open. */
FILE *ddp_terminal_stream(int fd);

/* Find out whether a line of progress can be shown; under mpirun this depends on mpirun's own
 * output. Keep from now on what is printed for NAME.log (ddp_run_log_keep). Call on rank 0; later
 * calls do nothing. */
void ddp_terminal_open(ddp_launcher launcher);

/* Return 1 if a line of progress can be shown; 0 for a file, a pipe, no TERM or TERM=dumb, and
 * before ddp_terminal_open. */
int ddp_terminal_renews(void);

/* Show segments[0..count) as the line of progress, without colours if NO_COLOR is not empty. Groups
 * (ddp_line_segment) that do not fit are left out. Does nothing if ddp_terminal_renews returns 0,
 * or if the line on the screen is newer than 0.1 s. */
void ddp_terminal_show(const ddp_line_segment *segments, size_t count);

/* Erase the line of progress, and show none from now on. */
void ddp_terminal_clear(void);

/* Return the errno of a failed write to descriptor 1, or to the copy of it that
 * ddp_terminal_stream last got; 0: none, or the reader has gone. */
int ddp_terminal_output_error(void);

/* Print a line, which must end with a newline, to fd, the real standard error. From any thread.
 * NAME.log gets the line with the next one that is printed, or by ddp_run_log_flush. */
void ddp_terminal_say(int fd, const char *text);

#endif
