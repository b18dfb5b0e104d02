/* run/nan_report.h: messages about a step with NaN or infinite numbers (trainer/nan_guard.h). */
#ifndef DDP_RUN_NAN_REPORT_H
#define DDP_RUN_NAN_REPORT_H

#include "base/status.h"
#include "comm/group.h"
#include "trainer/nan_guard.h"

/* Print on rank 0 that the step was skipped, and which rank, layer and pictures had the first
 * number that was not finite. If all outputs were finite, print instead that sums of gradients have
 * become too large. wire: format in which gradients travelled. */
void ddp_nan_report_skipped(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire);

/* Set *err to the error (DDP_ERR_FORMAT) with which the job ends. Print on rank 0 the pictures of
 * the mini-batch with the first number that was not finite.
 *   wire  the format in which gradients travelled
 *   last  path of the last good weights, for the error; NULL: none */
void ddp_nan_report_error(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire,
                          const char *last, ddp_error *err);

#endif
