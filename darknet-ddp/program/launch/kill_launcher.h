/* launch/kill_launcher.h: ends an mpirun, or its daemon, that does not end when its job has
 * failed. */
#ifndef DDP_LAUNCH_KILL_LAUNCHER_H
#define DDP_LAUNCH_KILL_LAUNCHER_H

/* Leave a process behind that kills this rank's parent in 10 s, if that is an mpirun and still runs
 * then. (An mpirun may wait 8 minutes for a host that is away.) With `alone` 1 this rank has found
 * itself without the others. Then the parent is killed also if it is mpirun's daemon on another
 * host. An mpirun that this program has started is left to the process that started it. Call when
 * this rank is about to end the job, from any thread. */
void ddp_kill_launcher_later(int alone);

#endif
