/* launch/reach.h: other hosts, as mpirun reaches them: by the program of Open MPI's parameter
 * plm_rsh_agent, or ssh without a question. */
#ifndef DDP_LAUNCH_REACH_H
#define DDP_LAUNCH_REACH_H

#include "launch/hostlist.h"

/* Ask each host whether it answers; this host does. Takes up to 10 s. A host that was unreachable
 * and answers now counts again. */
void ddp_hosts_probe(ddp_hosts *h);

/* Why a host does not answer, in the words of what reaches it ("ssh: Could not resolve hostname b:
 * Name or service not known"), into out, always ended. Takes up to limit_s. Returns 0 where it
 * does answer, and out is empty. */
int ddp_host_why_unreachable(const char *name, double limit_s, char *out, size_t size);

/* The hosts that are still being reached, among the processes below this one, into out: "b, c and 2
 * more". Returns how many. */
int ddp_hosts_being_reached(const ddp_hosts *h, char *out, size_t size);

/* The name of the program that reaches them, into out. */
void ddp_reach_program(char *out, size_t size);

#endif
