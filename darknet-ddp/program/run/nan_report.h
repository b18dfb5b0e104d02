/* run/nan_report.h: messages about a step whose numbers are not finite (trainer/nan_guard.h). */
#ifndef DDP_RUN_NAN_REPORT_H
#define DDP_RUN_NAN_REPORT_H

#include "base/status.h"
#include "comm/group.h"
#include "trainer/nan_guard.h"

/* Print on rank 0 that the step was skipped, and in which layer and rank the first bad number was.
 * Also print the pictures of that mini-batch. wire: the format in which gradients travelled. */
void ddp_nan_report_skipped(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire);

/* Write to *err the error, DDP_ERR_FORMAT, with which the job ends. Print on rank 0 the pictures of
 * the mini-batch in which the bad numbers began.
 *   wire  the format in which gradients travelled
 *   last  the last weights file saved or resumed; NULL: none */
void ddp_nan_report_error(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire,
                          const char *last, ddp_error *err);

#endif
