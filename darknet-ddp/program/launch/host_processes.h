/* launch/host_processes.h: what a launcher has started on this host. */
#ifndef DDP_LAUNCH_HOST_PROCESSES_H
#define DDP_LAUNCH_HOST_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* Call each for the children of a process, all its threads'. */
void ddp_children_each(pid_t parent, void (*each)(void *ctx, pid_t child), void *ctx);

/* As mpirun told a process; -1: it is no rank, or cannot be looked at. */
int ddp_rank_of_process(pid_t pid);

/* Ranks of this host that run another program than this process does: "; rank 1 on this host is no
 * darknet: /usr/bin/sleep", or nothing, into out. */
void ddp_host_processes_describe_strangers(char *out, size_t size);

#endif
