/* launch/supervisor.h: starts ranks by mpirun, and starts them again when they fail.
 *
 * -ddp_ranks, -gpus and -ddp_hosts start an mpirun (launch/mpirun.h has its command line). It is a
 * child of this process, which passes signals on to its ranks (launch/child.h). What it prints
 * comes through a pipe (launch/output_relay.h). launch/supervisor.c starts it again when the job
 * fails. Processes that it leaves are killed (launch/process_tree.h). */
#ifndef DDP_LAUNCH_SUPERVISOR_H
#define DDP_LAUNCH_SUPERVISOR_H

#include "base/status.h"
#include "options/options.h"

/* Run this very command, argv, under mpirun (launch/child.h), and exit with its status: returns
 * only on failure. Starts `ranks` ranks on this host, or with -ddp_hosts on each host that names no
 * number itself. Each rank may run on any core of its host. Each gets OMP_NUM_THREADS = cores /
 * ranks of a host, at least 1, unless the environment has it.
 *
 * A job that failed after it had begun to train starts again, up to -ddp_max_restarts times. It
 * goes on from its last checkpoint if it has saved one, on the hosts that answer, with as many
 * ranks as these take and the cfg's batch allows. A usage error, a signal that asked to end, and a
 * run that another has taken over start nothing again.
 *
 * Fails with DDP_ERR_IO, DDP_ERR_NOMEM, DDP_ERR_USAGE. The last is for a build without MPI, wrong
 * hosts or interface, and limits of this host (launch/limits.h). It is also for a lone ":" in argv,
 * which mpirun would read as the end of the command. */
ddp_status ddp_supervisor_run(const ddp_options *options, int ranks, char **argv, ddp_error *err);

/* Return 1 if ddp_supervisor_run has started this rank. */
int ddp_supervisor_is_ours(void);

/* Return 1 if this rank's job was started again and has to go on from a checkpoint. */
int ddp_supervisor_must_resume(void);

/* Return 1 if this rank's job was started again. Files of another run were set aside before the job
 * first trained; if rank 0 is on another host now, its backup folder may still hold some. */
int ddp_supervisor_restarted(void);

#endif
