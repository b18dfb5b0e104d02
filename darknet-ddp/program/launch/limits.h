/* launch/limits.h: what mpirun and ranks need of this host, looked at before they are started.
 * Without it mpirun crashes, or waits for ever for ranks that have died in MPI's start. */
#ifndef DDP_LAUNCH_LIMITS_H
#define DDP_LAUNCH_LIMITS_H

#include "launch/hostlist.h"

/* Check that `ranks` ranks can be started on this host. Raise limits of open files, file sizes and
 * memory, which children inherit, where they are lower than what is needed. Fails with
 * DDP_ERR_USAGE if a limit may not be raised so far, or if mpirun cannot take the name of this host
 * or of one in `hosts` (launch/mpirun.h:ddp_mpirun_name_letters). Fails with DDP_ERR_IO if the
 * loopback interface is down or has no IPv4 address, or the folder for mpirun's files cannot be
 * written or has too little room. */
ddp_status ddp_limits_check(int ranks, const ddp_hosts *hosts, ddp_error *err) DDP_MUST_CHECK;

/* Print a line on standard error for each limit of this process that is low: a job that failed may
 * have met it. */
void ddp_limits_say_low(void);

#endif
