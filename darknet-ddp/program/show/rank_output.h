/* show/rank_output.h: prints messages of a rank, and ends the job after an error.
 *
 * In a group of several ranks only rank 0 prints on standard output. Errors then name the rank and
 * host. An error that all ranks meet is printed once: ranks other than 0 wait 2 s, in which rank 0
 * prints it and ends the job. But each rank prints a DDP_ERR_MISMATCH. */
#ifndef DDP_SHOW_RANK_OUTPUT_H
#define DDP_SHOW_RANK_OUTPUT_H

#include "base/status.h"
#include "comm/group.h"
#include "launch/child.h"
#include "launch/launcher_env.h"
#include "watch/watch.h"

#include <stdio.h>

/* Note this rank's number, as its launcher gives it. Call before all other functions here, after
 * ddp_terminal_replace_streams. */
void ddp_rank_output_init(ddp_launcher launcher);

/* Note the group, which must outlive every call below. From now on ranks other than 0 print nothing
 * to standard output. Their standard error shows only what functions of this header print; after
 * ddp_rank_output_show_errors it shows all again. Call before the first message of a run. */
void ddp_rank_output_open(ddp_group *group);

/* Discard what goes to descriptor 2, until ddp_rank_output_show_errors, but for what this header's
 * functions print. But with ddp_terminal_place.joined 1 stderr shows: it uses descriptor 1. */
void ddp_rank_output_hide_errors(void);

/* End ddp_rank_output_hide_errors, and what ddp_rank_output_open hides: all that goes to descriptor
 * 2 is printed again. */
void ddp_rank_output_show_errors(void);

/* Discard standard output from now on. Returns a stream that still writes to it, which is never
 * closed. If that fails, returns stdout, and discards nothing. Not after ddp_terminal_open. */
FILE *ddp_rank_output_take_output(void);

/* Print no errors from now on. A thread that fails later then blocks, without a message, until the
 * process ends. If a thread fails at present, the call itself blocks until then. Call once, when
 * this rank is about to leave the group and end. */
void ddp_rank_output_close(void);

/* Print the error and end every rank, with exit status 2 for DDP_ERR_USAGE, else 1. Any thread may
 * call. Only a DDP_ERR_MISMATCH must be given by all ranks, on the thread that uses the group.
 * They wait up to 5 s for each other, so that each rank prints it. */
void ddp_rank_output_failure(const ddp_error *err) __attribute__((noreturn));

/* Print a message of Darknet's and end every rank. Never returns. It is a callback for Darknet's
 * fatal_handler. */
void ddp_rank_output_fatal(int exit_status, const char *message);

/* Set the resume hint, a sentence without a newline. It is printed after an error of this rank, or
 * after the watch has written the last events. NULL: none. The text must stay valid. Does nothing
 * after ddp_report_forget_resume_hint. */
void ddp_report_set_resume_hint(const char *text);

/* Print no resume hint from now on, whatever is set later. From any thread. */
void ddp_report_forget_resume_hint(void);

/* Print the resume hint now, if there is one. From any thread. */
void ddp_report_print_resume_hint(void);

/* Send a note to the darknet that started the ranks, if one did (launch/child.h). Any thread. */
void ddp_report_notify_launcher(ddp_launcher_note note);

/* Send the path of NAME.log to the darknet that started the ranks, if one did. On rank 0. */
void ddp_report_notify_launcher_of_log(const char *path);

/* Print "darknet: ", the text and a newline on standard error, with rank and host if there are
 * several ranks. From any thread. */
void ddp_report_print(const char *text);

/* Make sure that this process ends within 10 s with this exit status, even if a thread hangs in a
 * file or in MPI. Returns at once. A message names the file that hangs. Only the first call counts.
 * From any thread. */
void ddp_rank_output_end_soon(int exit_status);

/* Note that this rank has done all its work, and call ddp_rank_output_end_soon(exit_status). Rank 0
 * also tells the darknet that started the ranks. Call on every rank. */
void ddp_rank_output_done(int exit_status);

/* Write NAME.log, and end every rank without a message. From any thread. alone: 1 if this rank has
 * lost the others: mpirun's daemon on this host is then killed, too, if it runs 10 s later. */
void ddp_rank_output_end(int exit_status, int alone) __attribute__((noreturn));

/* Set a function to call if this process ends by a failure, before other ranks are ended; NULL:
 * none. The thread that ends the process calls it. */
void ddp_rank_output_at_end(void (*at_end)(void));

/* Tell the watch (ddp_rank_output_watch) that this rank makes progress. Call while the rank waits
 * for something that surely ends. */
void ddp_rank_output_moves(void);

/* Set the watch (watch/watch.h) that ddp_rank_output_moves tells, and that learns if this
 * process fails; NULL: none. Set NULL before the watch is closed. */
void ddp_rank_output_watch(ddp_watch *watch);

#endif
