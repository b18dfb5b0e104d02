/* launch/limits.h: checks that this host gives mpirun and its ranks enough, such as open files and
 * memory. Else mpirun would crash, or wait for ever for ranks that died in MPI's start. */
#ifndef DDP_LAUNCH_LIMITS_H
#define DDP_LAUNCH_LIMITS_H

#include "launch/hostlist.h"

/* Check that mpirun can start `ranks` ranks on this host. Limits that are too low are raised for
 * this process and its children. hosts: hosts whose names are checked, too; may be empty. Fails
 * with
 *   - DDP_ERR_USAGE: a limit may not be raised, or a host's name is too long for mpirun;
 *   - DDP_ERR_IO: mpirun's folder cannot be written or is full, or the loopback interface is down
 *     or has no IPv4. */
ddp_status ddp_limits_check(int ranks, const ddp_hosts *hosts, ddp_error *err) DDP_MUST_CHECK;

/* Print a line on standard error for each limit of this process that may have made a job fail. */
void ddp_limits_say_low(void);

#endif
