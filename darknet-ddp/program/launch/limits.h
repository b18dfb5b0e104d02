/* launch/limits.h: checks that this host gives mpirun and its ranks what they need, such as open
 * files and memory. Else mpirun would crash, or wait for ever for ranks that died in MPI's start.
 */
#ifndef DDP_LAUNCH_LIMITS_H
#define DDP_LAUNCH_LIMITS_H

#include "launch/hostlist.h"

/* Check that mpirun can start `ranks` ranks on this host. If limits of open files, file sizes or
 * memory are too low, raise them for this process and its children. Fails with DDP_ERR_USAGE if one
 * may not be raised, or if a name in `hosts`, or of this host, is too long for mpirun
 * (ddp_mpirun_name_letters). Fails with DDP_ERR_IO if the loopback interface is down or without an
 * IPv4 address, or mpirun's folder cannot be written or has too little room. */
ddp_status ddp_limits_check(int ranks, const ddp_hosts *hosts, ddp_error *err) DDP_MUST_CHECK;

/* Print a line on standard error for each limit of this process that is low, and that may have made
 * a job fail. */
void ddp_limits_say_low(void);

#endif
