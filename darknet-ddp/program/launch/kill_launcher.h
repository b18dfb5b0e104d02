/* launch/kill_launcher.h: kills an mpirun, or its daemon, that still runs 10 s after its job has
 * failed. */
#ifndef DDP_LAUNCH_KILL_LAUNCHER_H
#define DDP_LAUNCH_KILL_LAUNCHER_H

/* Start a process that kills this rank's parent after 10 s, if that is an mpirun and still runs.
 * (An mpirun may wait 8 minutes for a host that is down.) Does not kill an mpirun that ddp_child
 * started, because ddp_child does. Returns at once. Call when this rank is about to end the job.
 * From any thread.
 *   alone  1: this rank has lost the others; its parent is then killed also if it is the daemon of
 *          an mpirun on another host */
void ddp_kill_launcher_later(int alone);

#endif
