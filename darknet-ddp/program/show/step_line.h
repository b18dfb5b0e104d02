/* show/step_line.h: the line about each step, on rank 0. A file or a pipe gets Darknet's own line
 * every -log_every steps, under -ddp with figures behind it. On a terminal one line renews itself,
 * and Darknet's lines go to NAME.log.
 *
 * A process has one run at most, because Darknet calls back without context. */
#ifndef DDP_SHOW_STEP_LINE_H
#define DDP_SHOW_STEP_LINE_H

#include "options/options.h"
#include "show/progress.h"
#include "validate/schedule.h"

/* Have a line printed for the first, the last and each `every`-th step; every 1 or less: for each.
 * Call before Darknet trains. */
void ddp_step_line_open(int every);

/* Note that training begins. Without this call, it begins with the end of the first step. */
void ddp_step_line_begin(const ddp_progress_now *now);

/* Show a step that has ended. line: Darknet's own, without its newline. validated: the result of
 * the last validation; NULL: none. */
void ddp_step_line_show(const ddp_progress_now *now, const char *line,
                        const ddp_validation_result *validated);

/* Have the speed leave out `ns` nanoseconds since the last step, in which the run did something
 * else. Of these, communication_ns were communication. */
void ddp_step_line_pause(int64_t ns, int64_t communication_ns);

/* Note that `ns` nanoseconds since the last step went to saving, not to waiting for samples. */
void ddp_step_line_saved(int64_t ns);

/* Print where the run stands, with `begin` before each line: "HOW batch 320 of 320" and "5120
 * images; 320 steps in 2 minutes, average loss 0.4012". Returns 0 if no step has ended. */
int ddp_step_line_print_end(const char *begin, const char *how);

#endif
