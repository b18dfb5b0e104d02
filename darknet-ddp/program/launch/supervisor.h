/* launch/supervisor.h: starts ranks by mpirun, for -ddp_ranks, -gpus, -ddp_hosts and
 * -ddp_max_restarts, and starts them again when they fail.
 *
 * Its parts are mpirun's command line (launch/mpirun.h), mpirun as a child process that gets
 * signals (launch/child.h), and its output (launch/output_relay.h).
 *
 * A job that fails after it has begun to train is started again, up to -ddp_max_restarts times. It
 * resumes from its last checkpoint, if it has saved one. With -ddp_hosts it uses the hosts that
 * answer, and as many ranks as they and the cfg's batch allow. It is not started again after a
 * usage error, after a signal asked it to end, if no host answers, or if another run has taken its
 * folder over. Unless the user has set OMP_NUM_THREADS, it becomes this host's cores / the number
 * of its ranks, but 1 at least. If no rank is on this host, the first host's number counts. */
#ifndef DDP_LAUNCH_SUPERVISOR_H
#define DDP_LAUNCH_SUPERVISOR_H

#include "base/status.h"
#include "options/options.h"

/* Run the command line argv (NULL after the last word) on `ranks` ranks under mpirun, and exit with
 * the job's status. With -ddp_hosts, `ranks` is the number for each host that names none itself.
 * Call on the main thread, while it is the only one. Returns only on failure, with
 *   - DDP_ERR_USAGE: no MPI in this build, a wrong host, too many ranks for this host's cores
 *     (ddp_cores_check), or a lone ":" in argv, at which mpirun would begin another command;
 *   - DDP_ERR_IO, as when mpirun cannot be started, or -ddp_interface names no interface;
 *   - DDP_ERR_NOMEM, or an error of ddp_limits_check. */
ddp_status ddp_supervisor_run(const ddp_options *options, int ranks, char **argv, ddp_error *err);

/* Return 1 if ddp_supervisor_run started this rank. */
int ddp_supervisor_is_ours(void);

/* Return 1 if ddp_supervisor_run has restarted this rank's job, and the job must resume: an earlier
 * start has saved a checkpoint, or gone on from one. */
int ddp_supervisor_must_resume(void);

/* Return 1 if ddp_supervisor_run has restarted this rank's job. */
int ddp_supervisor_restarted(void);

#endif
