/* show/step_line.h: prints the line about each step, on rank 0. On a terminal one line of progress
 * is renewed, and Darknet's own lines go to NAME.log; elsewhere they are printed. Figures of
 * show/progress.h follow each of them; -log_every chooses their steps. One run in a process. */
#ifndef DDP_SHOW_STEP_LINE_H
#define DDP_SHOW_STEP_LINE_H

#include "options/options.h"
#include "show/progress.h"
#include "validate/schedule.h"

/* Choose the steps with a line: the first, the last and every `every`-th; 1 or less: each. Call
 * before Darknet trains. */
void ddp_step_line_open(int every);

/* Note that training begins. Without this call, the clock starts at the end of the first step. */
void ddp_step_line_begin(const ddp_progress_now *now);

/* Show a step that has ended.
 *   line       Darknet's own line about it, without a newline
 *   validated  result of the last validation; NULL: none */
void ddp_step_line_show(const ddp_progress_now *now, const char *line,
                        const ddp_validation_result *validated);

/* Leave `ns` nanoseconds since the last step out of the speed, because the run validated in them.
 * communication_ns of them were communication. */
void ddp_step_line_pause(int64_t ns, int64_t communication_ns);

/* Note that saving took `ns` nanoseconds since the last step, beside its communication. This time
 * does not count as waiting for samples. */
void ddp_step_line_saved(int64_t ns);

/* Print how far the run came, in two lines that begin with `begin`: "HOW batch 320 of 320" and
 * "5120 images; 320 steps in 2 minutes, average loss 0.4012". Returns 1; 0, with nothing printed,
 * if no step has ended. */
int ddp_step_line_print_end(const char *begin, const char *how);

#endif
