/* launch/reach.h: finds out whether other hosts answer. They are asked as mpirun reaches them: by
 * the program that Open MPI's parameter names (ddp_mpirun_agent), or by ssh without a prompt. */
#ifndef DDP_LAUNCH_REACH_H
#define DDP_LAUNCH_REACH_H

#include "launch/hostlist.h"

/* Set `unreachable` of each host, by asking all at once. This host counts as one that answers.
 * Takes up to 10 s. */
void ddp_hosts_probe(ddp_hosts *h);

/* Ask host `name`, and if it does not answer, return 1 with the reason in out[0..size). The words
 * are those of the program that reaches the host, if it prints any: "ssh: Could not resolve
 * hostname b: Name or service not known". Returns 0, with out "", if it answers, or cannot be asked
 * because there is no pipe. Takes up to limit_s seconds. */
int ddp_host_why_unreachable(const char *name, double limit_s, char *out, size_t size);

/* Write to out[0..size) the hosts that processes below this one are still trying to reach: "b, c,
 * d, e and 2 more". Returns how many they are. */
int ddp_hosts_being_reached(const ddp_hosts *h, char *out, size_t size);

/* Write to out[0..size) the name, without folder, of the program that reaches hosts: "ssh". */
void ddp_reach_program(char *out, size_t size);

#endif
