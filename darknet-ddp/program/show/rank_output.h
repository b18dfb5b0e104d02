/* show/rank_output.h: what a rank says, and how it ends the job.
 *
 * Rank 0 speaks as Darknet does. Other ranks are silent but for errors, which
 * carry rank and host. An error that all ranks meet is said once: the others
 * wait a moment, in which rank 0 ends the job.
 */
#ifndef DDP_SHOW_RANK_OUTPUT_H
#define DDP_SHOW_RANK_OUTPUT_H

#include "base/status.h"
#include "comm/group.h"
#include "launch/child.h"
#include "launch/launcher_env.h"
#include "watch/watch.h"

#include <stdio.h>

/* First of all: which rank this is, as far as the launcher says. */
void ddp_rank_output_init(ddp_launcher launcher);

/* Before the first message under a group, which must outlive every call below.
 * On ranks other than 0, standard output is closed off for good, and standard
 * error until ddp_rank_output_errors_only. */
void ddp_rank_output_open(ddp_group *group);

/* Close standard error off, but for the errors below. */
void ddp_rank_output_quiet(void);

/* Close standard output off, and return what writes where it went; standard output itself where
 * that cannot be. Never closed. */
FILE *ddp_rank_output_take_output(void);

/* Darknet has built the network and named its layers: let through what else the
 * libraries may write to standard error. */
void ddp_rank_output_errors_only(void);

/* This rank leaves the group, and then ends: from here on other threads that fail say nothing
 * and wait for that. */
void ddp_rank_output_close(void);

/* Print the error and end every rank, with exit status 2 for DDP_ERR_USAGE,
 * else 1. From any thread. DDP_ERR_MISMATCH is an error that all ranks of the group have found
 * together: each prints it, and none ends before all have. On the group's thread. */
void ddp_rank_output_failure(const ddp_error *err) __attribute__((noreturn));

/* The same for a sentence of Darknet's, in the form of its fatal_handler. */
void ddp_rank_output_fatal(int exit_status, const char *message);

/* From here on `text`, which stays as it is, is said behind what this rank fails of, or of which
 * the watch ends the run; NULL: nothing. */
void ddp_report_set_resume_hint(const char *text);

/* Nothing is, whatever is set later. From any thread. */
void ddp_report_forget_resume_hint(void);

/* Say that now. From any thread. */
void ddp_report_print_resume_hint(void);

/* Tell it to who started the ranks, if it was this program (launch/child.h). From any thread. */
void ddp_report_notify_launcher(ddp_launcher_note note);

/* The same: this file is NAME.log. On rank 0. */
void ddp_report_notify_launcher_of_log(const char *path);

/* Say something on standard error, as this rank where there are several. From any thread. */
void ddp_report_print(const char *text);

/* This process ends within 10 s from now, whatever file or rank its threads wait for; such a file
 * is named. Of several calls the first counts. From any thread. */
void ddp_rank_output_end_soon(int exit_status);

/* All is done, with this exit status: who started the ranks is told (rank 0), and this process ends
 * soon. */
void ddp_rank_output_done(int exit_status);

/* End every rank without a word, once NAME.log has been written. alone: this rank has found itself
 * without the others (launch/kill_launcher.h). From any thread. */
void ddp_rank_output_end(int exit_status, int alone) __attribute__((noreturn));

/* Called once when this process ends by a failure, on the thread that failed, before the other
 * ranks are ended; NULL: nothing is. */
void ddp_rank_output_at_end(void (*at_end)(void));

/* This rank waits for something that ends by itself: its watch takes that for movement. */
void ddp_rank_output_moves(void);

/* Who is to be told when this process fails; NULL: nobody. */
void ddp_rank_output_watch(ddp_watch *watch);

#endif
