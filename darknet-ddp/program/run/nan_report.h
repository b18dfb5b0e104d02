/* run/nan_report.h: what is said of a step whose numbers are not finite (trainer/nan_guard.h). */
#ifndef DDP_RUN_NAN_REPORT_H
#define DDP_RUN_NAN_REPORT_H

#include "base/status.h"
#include "comm/group.h"
#include "trainer/nan_guard.h"

/* The step was dropped: on rank 0 a line that says so, and where it began. wire: how gradients
 * travelled. */
void ddp_nan_report_dropped(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire);

/* The job ends: the error that says so. last: the weights file that was saved or resumed last;
 * NULL: none. On rank 0 the pictures of the mini-batch in which it began are printed. */
void ddp_nan_report_error(const ddp_group *group, const ddp_not_finite *what, ddp_wire wire,
                          const char *last, ddp_error *err);

#endif
