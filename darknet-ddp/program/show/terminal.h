/* show/terminal.h: where what a run prints goes: to where it was started, and to NAME.log.
 *
 * Standard output and standard error of this process go through here, whoever prints, and have no
 * control characters then (base/printable.h). On a terminal one line stands below all else and
 * renews itself; lines that are printed meanwhile stand above it. Nothing is printed by another
 * thread, so nothing is lost where the program ends at once; NAME.log has a line within a second.
 * Output whose reader has gone is dropped.
 *
 * Darknet says a step's line by train_line (patches), which comes to ddp_session_show_line
 * (run/step.c) and to show/step_line.c: it adds figures
 * (show/progress.c), and prints it or renews the line of a terminal. Lines about less than a step
 * go by train_say, silent without -verbose. stdout and stderr are streams of show/terminal.c: on
 * rank 0 of a run that trains, whoever prints, the renewing line gives way and NAME.log has it, in
 * the printing thread. Under mpirun every output looks like a terminal, so what mpirun, or the
 * darknet that started it, writes to counts.
 */
#ifndef DDP_SHOW_TERMINAL_H
#define DDP_SHOW_TERMINAL_H

#include "launch/launcher_env.h"

#include <stddef.h>
#include <stdio.h>

/* A part of the line that renews itself. */
typedef struct ddp_terminal_part {
    const char *colour; /* an escape sequence's number, "1" for bold; NULL: none */
    const char *text;
} ddp_terminal_part;

/* First of all, before anything is printed: from here on what is printed goes through here. Without
 * memory nothing happens. */
void ddp_terminal_escape(void);

/* Another stream that does so, to fd. NULL: there is no memory. */
FILE *ddp_terminal_stream(int fd);

/* The line that renews itself, and a log that may come, on rank 0. launcher: mpirun makes a
 * terminal of any output of its ranks, so where there is one its own output counts. */
void ddp_terminal_open(ddp_launcher launcher);

/* Can a line renew itself? 0 where output is a file or a pipe, or TERM=dumb. */
int ddp_terminal_renews(void);

/* Show the line, at most ten times a second. Colours go where NO_COLOR
 * is set. What the terminal has no room for is left out in groups, of which each but the first
 * begins with two blanks. Only where ddp_terminal_renews. */
void ddp_terminal_show(const ddp_terminal_part *parts, size_t count);

/* The line goes, and none comes any more. */
void ddp_terminal_clear(void);

/* What another rank than 0 is to write to its standard error before a line: it erases rank 0's
 * where mpirun writes both to one terminal. "" elsewhere. */
const char *ddp_terminal_erasing(ddp_launcher launcher);

/* From here on what is printed goes into this file, too, and first `head` and what was printed so
 * far. append: behind what is there; else that is put aside as PATH.old. path must outlive the run.
 * NULL: there is no such file, and nothing is remembered. A file that cannot be written is said
 * once, and stops nothing. */
void ddp_terminal_log(const char *path, int append, const char *head);

/* A line, with its newline, for that file alone. */
void ddp_terminal_note(const char *line);

/* The errno with which standard output could not be written, but for a reader that has gone; 0: it
 * could. */
int ddp_terminal_output_error(void);

/* Where the file is not there any more it comes back with all that it has (ddp_file_bring_back). */
void ddp_terminal_bring_back_log(void);

/* Hand the file what it has not yet. Waits for its disk. */
void ddp_terminal_flush(void);

/* Write text, a whole line, to fd, as what goes through standard error. From any thread, whether a
 * screen is open or not. Waits for no disk: NAME.log has it with the next line that is printed, or
 * ddp_terminal_flush. */
void ddp_terminal_say(int fd, const char *text);

#endif
