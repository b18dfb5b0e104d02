/* launch/supervisor.h: ranks that this process starts, and starts again when they fail.
 *
 * -ddp_ranks, -gpus and -ddp_hosts start an mpirun (launch/mpirun.h has its command line). It is a
 * child of this process, which gives it SIGUSR2 in place of Ctrl-C and SIGTERM (launch/child.h).
 * What it prints comes through a pipe (launch/output_relay.h). launch/supervisor.c starts it again
 * when the job fails. What it leaves behind is killed (launch/process_tree.h).
 */
#ifndef DDP_LAUNCH_SUPERVISOR_H
#define DDP_LAUNCH_SUPERVISOR_H

#include "base/status.h"
#include "options/options.h"

/* Run this very command, argv, under mpirun (launch/child.h; patient but where ranks are more than
 * 4 a core) and exit with its status: returns only on failure. `ranks` of them on this host, or
 * with -ddp_hosts on each that names no number itself. Each may run on any core of its host and
 * gets OMP_NUM_THREADS = cores / ranks of a host, at least 1, unless the environment has it.
 *
 * A job that failed after it had begun to train starts again, up to -ddp_max_restarts times. It
 * goes on from its last checkpoint if it has saved one, on the hosts that answer, with as many
 * ranks as these take and the cfg's batch allows. A failure that this does not mend (a usage error,
 * a signal that asked to end) is not tried again.
 *
 * Fails with DDP_ERR_IO, and with DDP_ERR_USAGE where mpirun would read the command otherwise. */
ddp_status ddp_supervisor_run(const ddp_options *options, int ranks, char **argv, ddp_error *err);

/* In a rank: return 1 if ddp_supervisor_run has started it. */
int ddp_supervisor_is_ours(void);

/* In a rank: return 1 if its job was started again and has to go on from a checkpoint. */
int ddp_supervisor_must_resume(void);

/* In a rank: return 1 if its job was started again. The files in the backup folder are then the
 * job's own: those of another run were set aside before it trained. */
int ddp_supervisor_restarted(void);

#endif
