/* launch/kill_launcher.h: an mpirun that does not end when its job has failed, nor its part on
 * another host. */
#ifndef DDP_LAUNCH_KILL_LAUNCHER_H
#define DDP_LAUNCH_KILL_LAUNCHER_H

/* Leave a process behind that kills this rank's parent, if that is an mpirun and still there in
 * 10 s. (An mpirun may wait 8 minutes for a host that is away.) With `alone` (this rank has found
 * itself without the others) the parent may also be mpirun's daemon on another host. An mpirun that
 * this program has started is left to that process. Call when this rank is about to end the job,
 * from any thread. */
void ddp_kill_launcher_later(int alone);

#endif
