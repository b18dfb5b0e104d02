/* cli/end_launcher.h: an mpirun that does not end when its job has failed. */
#ifndef DDP_CLI_END_LAUNCHER_H
#define DDP_CLI_END_LAUNCHER_H

/* This rank is about to end the job. If the mpirun that is its parent is still there in 5 s (it
 * waits up to 8 minutes for a host that is away), it is killed, by a process that is left behind
 * for that. Where this program started mpirun, or the parent is no mpirun, nothing happens. From
 * any thread. */
void ddp_end_launcher_later(void);

#endif
