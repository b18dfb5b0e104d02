/* launch/supervisor.h: ranks that this process starts, and starts again when they fail.
 *
 * The mpirun that -ddp_ranks or -gpus starts is a child (launch/child.h) that gets SIGUSR2 in place
 * of Ctrl-C and SIGTERM, once rank 0 has told, in a line that is not passed on, that the ranks
 * train. launch/supervisor.c starts it, and again when it fails. What it prints comes through a
 * pipe (launch/output_relay.h), because mpirun dies of an output that is closed. Before the ranks
 * train, and at a second signal, it is ended, and what it leaves is killed (launch/process_tree.h).
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
 * Up to -ddp_max_restarts times a job that failed after it had begun to train starts again: from
 * its last checkpoint if it has saved one, on the hosts that answer, with as many ranks as these
 * take and the cfg's batch allows. What is not mended by that (a usage error, a signal that asked
 * to end) is not tried again.
 *
 * Fails with DDP_ERR_IO, and with DDP_ERR_USAGE where mpirun would read the command otherwise. */
ddp_status ddp_supervisor_run(const ddp_options *options, int ranks, char **argv, ddp_error *err);

/* In a rank: was it started by ddp_supervisor_run? */
int ddp_supervisor_is_ours(void);

/* In a rank: its job was started again, to go on from a checkpoint that must be there. */
int ddp_supervisor_must_resume(void);

/* In a rank: its job was started again. What lies in the backup folder is the job's own: what was
 * another run's has been set aside before it trained. */
int ddp_supervisor_restarted(void);

#endif
