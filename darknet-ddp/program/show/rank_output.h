/* show/rank_output.h: what a rank prints, and how it ends the job.
 *
 * Rank 0 prints as Darknet does. Other ranks print errors alone, with rank and host. An error that
 * all ranks meet is printed once: the others wait a moment, in which rank 0 ends the job. */
#ifndef DDP_SHOW_RANK_OUTPUT_H
#define DDP_SHOW_RANK_OUTPUT_H

#include "base/status.h"
#include "comm/group.h"
#include "launch/child.h"
#include "launch/launcher_env.h"
#include "watch/watch.h"

#include <stdio.h>

/* Note which rank this is, as far as the launcher tells. Call before all other functions here. */
void ddp_rank_output_init(ddp_launcher launcher);

/* Note the group, which must outlive every call below, and this rank's number in it. Call before
 * the first message of a run. On ranks other than 0, standard output is closed off (led to
 * /dev/null) for good, and standard error until ddp_rank_output_errors_only. */
void ddp_rank_output_open(ddp_group *group);

/* Discard what is written to standard error, until ddp_rank_output_errors_only. Functions of this
 * header still print there. */
void ddp_rank_output_quiet(void);

/* Close standard output off. Returns a stream to where it went before, which is never closed; on
 * failure standard output itself. */
FILE *ddp_rank_output_take_output(void);

/* Open standard error again if it was closed off here, for messages of libraries. Call after the
 * network is built. */
void ddp_rank_output_errors_only(void);

/* Silence failures from now on, because this rank leaves the group and then ends: other threads
 * that fail print nothing, and wait for its end. */
void ddp_rank_output_close(void);

/* Print the error and end every rank, with exit status 2 for DDP_ERR_USAGE, else 1. From any
 * thread. DDP_ERR_MISMATCH is an error that all ranks of the group have found together: each prints
 * it, and none ends before all have. With such an error, call this on the group's thread. */
void ddp_rank_output_failure(const ddp_error *err) __attribute__((noreturn));

/* Print a message of Darknet's and end every rank, as Darknet's fatal_handler. Never returns. */
void ddp_rank_output_fatal(int exit_status, const char *message);

/* Set the text, without a newline, that is printed behind an error of this rank, or when the watch
 * ends the run; NULL: none. The text must stay valid. */
void ddp_report_set_resume_hint(const char *text);

/* Print no resume hint from now on, whatever is set later. From any thread. */
void ddp_report_forget_resume_hint(void);

/* Print the resume hint now, if there is one. From any thread. */
void ddp_report_print_resume_hint(void);

/* Send a note to the process of this program that started the ranks, if there is one
 * (launch/child.h). From any thread. */
void ddp_report_notify_launcher(ddp_launcher_note note);

/* Send the path of NAME.log to the process of this program that started the ranks, if there is one.
 * On rank 0. */
void ddp_report_notify_launcher_of_log(const char *path);

/* Print "darknet: ", the text and a newline on standard error, with rank and host if there are
 * several ranks. From any thread. */
void ddp_report_print(const char *text);

/* Have this process end within 10 s from now with this exit status, whatever file or rank its
 * threads wait for; returns at once. If a file is to blame, it is named. Only the first call
 * counts. From any thread. */
void ddp_rank_output_end_soon(int exit_status);

/* Tell, from rank 0, the process that started the ranks that all is done with this exit status.
 * Then call ddp_rank_output_end_soon. Call on every rank. */
void ddp_rank_output_done(int exit_status);

/* Write NAME.log to the disk, and end every rank without a message. alone: 1 if this rank has found
 * itself without the others (launch/kill_launcher.h). From any thread. */
void ddp_rank_output_end(int exit_status, int alone) __attribute__((noreturn));

/* Set a function that is called once when this process ends by a failure, on the thread that
 * failed, before the other ranks are ended; NULL: none. */
void ddp_rank_output_at_end(void (*at_end)(void));

/* Tell the watch that this rank moves. Call while the rank waits for something that ends by itself.
 */
void ddp_rank_output_moves(void);

/* Set the watch that ddp_rank_output_moves tells, and that is told when this process fails; NULL:
 * none. Set NULL before the watch is closed. */
void ddp_rank_output_watch(ddp_watch *watch);

#endif
