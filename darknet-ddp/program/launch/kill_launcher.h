/* launch/kill_launcher.h: kills an mpirun, or its daemon, that still runs 10 s after its job has
 * failed. */
#ifndef DDP_LAUNCH_KILL_LAUNCHER_H
#define DDP_LAUNCH_KILL_LAUNCHER_H

/* Start a process that kills this rank's parent, if that is an mpirun and still runs after 10 s.
 * (An mpirun may wait 8 minutes for a host that is down.) Returns at once. An mpirun that ddp_child
 * started is left to ddp_child. Call when this rank is about to end the job. One thread at a time.
 *   alone  1: this rank has lost the others; kill the parent also if it is an mpirun's daemon */
void ddp_kill_launcher_later(int alone);

#endif
