/* show/terminal.h: what a run prints goes through here, to where it was started and to NAME.log.
 *
 * stdout and stderr are streams of show/terminal.c, whoever prints. So no output has control
 * characters (base/printable.h). On a terminal, one line stands below all else and renews itself;
 * lines printed meanwhile stand above it. The printing thread writes, so nothing is lost where the
 * program ends at once. NAME.log gets a line of standard error at once. It gets other lines when
 * one is printed a second or more after the last write. Output whose reader has gone is dropped.
 * Under mpirun every output looks like a terminal, so the output of mpirun, or of the darknet that
 * started it, is asked instead.
 *
 * Darknet prints a step's line by train_line (patches), which comes to ddp_session_show_line
 * (run/step.c) and to show/step_line.c. It adds figures (show/progress.c), and prints it or renews
 * the terminal's line. Lines about less than a step go by train_say, silent without -verbose. */
#ifndef DDP_SHOW_TERMINAL_H
#define DDP_SHOW_TERMINAL_H

#include "launch/launcher_env.h"

#include <stddef.h>
#include <stdio.h>

/* A piece of text, in one colour, in the line of progress at the terminal's bottom. */
typedef struct ddp_terminal_segment {
    const char *colour; /* number of an escape sequence, "1" for bold; NULL: none */
    const char *text;
} ddp_terminal_segment;

/* Replace stdout and stderr by streams whose output goes through here. Call before anything is
 * printed. Does nothing if there is no memory. */
void ddp_terminal_escape(void);

/* Return another stream whose output goes through here, to the descriptor fd. Closing the stream
 * leaves fd open. NULL: no memory. */
FILE *ddp_terminal_stream(int fd);

/* Find out if the run was started on a terminal whose line can be renewed. Begin to remember what
 * is printed, for a later ddp_terminal_log. On rank 0; later calls do nothing. launcher: under
 * mpirun every output of a rank looks like a terminal, so mpirun's own output is asked. */
void ddp_terminal_open(ddp_launcher launcher);

/* Return 1 if a line can renew itself; 0 for a file, a pipe, or TERM=dumb. */
int ddp_terminal_renews(void);

/* Show segments[0..count) as the line that renews itself, at most ten times a second. Call only if
 * ddp_terminal_renews. There are no colours if NO_COLOR is set. Segments form groups: each group
 * but the first begins with two blanks. Groups without room are left out; the first is cut. */
void ddp_terminal_show(const ddp_terminal_segment *segments, size_t count);

/* Erase the line that renews itself, and show none from now on. */
void ddp_terminal_clear(void);

/* Return what a rank other than 0 must write to its standard error before a line. It erases rank
 * 0's line if mpirun writes both to one terminal. "" elsewhere. */
const char *ddp_terminal_erasing(ddp_launcher launcher);

/* Write all that is printed to the file at path, too, beginning with `head` and what was printed so
 * far. `append`: 1 writes behind what the file has; 0 renames an old file to PATH.old. Call after
 * ddp_terminal_open; else there is no file. The path must outlive the run; NULL: no file, and
 * nothing is remembered. A failure is said once, and stops nothing. */
void ddp_terminal_log(const char *path, int append, const char *head);

/* Write a line, which ends with its newline, to NAME.log alone. */
void ddp_terminal_note(const char *line);

/* Return the errno of a failed write to standard output; 0: none, or its reader has gone. */
int ddp_terminal_output_error(void);

/* Write NAME.log anew, with all that it has, if it is no longer there (ddp_file_bring_back). */
void ddp_terminal_bring_back_log(void);

/* Write to NAME.log all that waits to be written there. Waits for its disk. */
void ddp_terminal_flush(void);

/* Write a line, which ends with its newline, to fd, as if printed on standard error. From any
 * thread, whether ddp_terminal_open was called or not. Does not wait for a disk: NAME.log has the
 * line with the next one that is printed, or after ddp_terminal_flush. */
void ddp_terminal_say(int fd, const char *text);

#endif
