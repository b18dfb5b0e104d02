/* show/step_line.h: the line about each step. In a file or a pipe Darknet's own, with -ddp
 * with figures behind it, every -log_every steps; on a terminal one that renews itself, and the
 * others go to NAME.log.
 *
 * There is one run at most in a process, because Darknet calls back without context. Rank 0's.
 */
#ifndef DDP_SHOW_STEP_LINE_H
#define DDP_SHOW_STEP_LINE_H

#include "options/options.h"
#include "show/progress.h"
#include "validate/schedule.h"

/* Before Darknet trains: lines every `every` steps, the first and the last one. */
void ddp_step_line_open(int every);

/* Training begins; without it, it has begun with the first step. */
void ddp_step_line_begin(const ddp_progress_now *now);

/* A step has ended, of which Darknet says `line`. validated: the last validation; NULL: none. */
void ddp_step_line_show(const ddp_progress_now *now, const char *line,
                        const ddp_validation_result *validated);

/* Time since the last step was spent on something else, and communication in it. */
void ddp_step_line_pause(int64_t ns, int64_t communication_ns);

/* Of the time since the last step, so much was spent on saving: it did not wait for samples. */
void ddp_step_line_saved(int64_t ns);

/* Print where the run stands, with `begin` before each line: "HOW batch 320 of 320" and "5120
 * images; 320 steps in 2 minutes, average loss 0.4012". 0: no step has ended, and nothing is
 * printed. */
int ddp_step_line_print_end(const char *begin, const char *how);

#endif
