/* launch/kill_launcher.h: an mpirun that does not end when its job has failed, nor its part on
 * another host. */
#ifndef DDP_LAUNCH_KILL_LAUNCHER_H
#define DDP_LAUNCH_KILL_LAUNCHER_H

/* This rank is about to end the job. If the mpirun that is its parent is still there in 10 s (it
 * waits up to 8 minutes for a host that is away), it is killed, by a process that is left behind
 * for that; where the rank has found itself alone, so is Open MPI 4's daemon on another host than
 * mpirun's. An mpirun that this program started is left to it; so is a parent of another name. From
 * any thread. */
void ddp_kill_launcher_later(int alone);

#endif
