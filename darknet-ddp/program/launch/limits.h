/* launch/limits.h: limits of this host that would make mpirun crash, checked before it is
 * started. */
#ifndef DDP_LAUNCH_LIMITS_H
#define DDP_LAUNCH_LIMITS_H

#include "launch/hostlist.h"

/* May mpirun open the files that it needs for so many ranks on this host? The limit of this
 * process, which children inherit, is raised as far as it may be. Fails with DDP_ERR_USAGE. */
ddp_status ddp_limits_check_files(int ranks, ddp_error *err) DDP_MUST_CHECK;

/* Are the names of this host and of the others such that Open MPI's mpirun can handle them? Fails
 * with DDP_ERR_USAGE. */
ddp_status ddp_limits_check_names(const ddp_hosts *hosts, ddp_error *err) DDP_MUST_CHECK;

#endif
