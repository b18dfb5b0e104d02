/* launch/limits.h: checks limits of this host that would make mpirun crash. */
#ifndef DDP_LAUNCH_LIMITS_H
#define DDP_LAUNCH_LIMITS_H

#include "launch/hostlist.h"

/* Raise this process's limit of open files, which children inherit, if mpirun needs more for
 * `ranks` ranks on this host. Fails with DDP_ERR_USAGE if it may not be raised so far. */
ddp_status ddp_limits_check_files(int ranks, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if the name of this host or of one in `hosts` is longer than mpirun can
 * take (launch/mpirun.h:ddp_mpirun_name_letters). */
ddp_status ddp_limits_check_names(const ddp_hosts *hosts, ddp_error *err) DDP_MUST_CHECK;

#endif
