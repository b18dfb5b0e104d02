/* launch/host_processes.h: looks at the processes that an mpirun has started on this host. */
#ifndef DDP_LAUNCH_HOST_PROCESSES_H
#define DDP_LAUNCH_HOST_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* Call each(ctx, child) for every child of process `parent`, whichever thread started it. */
void ddp_children_each(pid_t parent, void (*each)(void *ctx, pid_t child), void *ctx);

/* Return the rank that Open MPI's mpirun has put into the environment of process `pid`; -1: it has
 * none, or its environment cannot be read. */
int ddp_rank_of_process(pid_t pid);

/* Write to out[0..size) which ranks of this host run another program than this one. Each is a text
 * such as "; rank 1 on this host is no darknet: /usr/bin/sleep". Text that does not fit is cut. out
 * becomes "" if none is found: only ranks of Open MPI's mpirun are. Call in a rank. */
void ddp_host_processes_describe_strangers(char *out, size_t size);

#endif
