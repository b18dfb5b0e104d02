/* cli/report.h: what a rank says, and how it ends the job.
 *
 * Rank 0 speaks as Darknet does. Other ranks are silent but for errors, which
 * carry rank and host.
 */
#ifndef DDP_CLI_REPORT_H
#define DDP_CLI_REPORT_H

#include "base/status.h"
#include "comm/group.h"

/* Before the first message. group may be NULL (no rank is known yet) and must
 * outlive every call below. On ranks other than 0, standard output is closed off
 * for good, and standard error until ddp_report_errors_only. */
void ddp_report_open(ddp_group *group);

/* Darknet has built the network and named its layers: let through what else the
 * libraries may write to standard error. */
void ddp_report_errors_only(void);

/* Print the error and end every rank, with exit status 2 for DDP_ERR_USAGE,
 * else 1. From any thread. */
void ddp_report_failure(const ddp_error *err) __attribute__((noreturn));

/* The same for a sentence of Darknet's, in the form of its fatal_handler. */
void ddp_report_fatal(int exit_status, const char *message);

#endif
