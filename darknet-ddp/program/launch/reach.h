/* launch/reach.h: finds out whether mpirun can reach other hosts, by running a command there. It
 * uses the program that mpirun would use: the one that ddp_mpirun_agent names, or ssh. */
#ifndef DDP_LAUNCH_REACH_H
#define DDP_LAUNCH_REACH_H

#include "launch/hostlist.h"

/* Set `unreachable` of each host: 1 if it cannot be reached within 10 s, else 0. All are tried at
 * once; waits for them. This host is never unreachable. */
void ddp_hosts_probe(ddp_hosts *h);

/* Return 1 if host `name` cannot be reached within limit_s seconds; it waits no longer.
 * out[0..size) then says why: "ssh: Could not resolve hostname b". Returns 0, with out "", if it
 * can be reached, or could not be tried. */
int ddp_host_why_unreachable(const char *name, double limit_s, char *out, size_t size);

/* Write to out[0..size) the hosts that mpirun's ssh processes are still trying to reach: "b, c, d,
 * e and 2 more". Returns how many hosts these are. */
int ddp_hosts_being_reached(const ddp_hosts *h, char *out, size_t size);

/* Write to out[0..size) the name of the program that reaches hosts, without folder: "ssh". */
void ddp_reach_program(char *out, size_t size);

#endif
