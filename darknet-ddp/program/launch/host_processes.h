/* launch/host_processes.h: processes that an mpirun has started on this host. */
#ifndef DDP_LAUNCH_HOST_PROCESSES_H
#define DDP_LAUNCH_HOST_PROCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* Call each(ctx, child) for every process that any thread of process `parent` has started. */
void ddp_children_each(pid_t parent, void (*each)(void *ctx, pid_t child), void *ctx);

/* Return the rank number that Open MPI's mpirun has given to process `pid`, from its environment;
 * -1 if it is no rank, or cannot be looked at. */
int ddp_rank_of_process(pid_t pid);

/* Write to out[0..size) which ranks of this host run another program than this process. Each is
 * told as "; rank 1 on this host is no darknet: /usr/bin/sleep"; else out is "". Call in a rank. */
void ddp_host_processes_describe_strangers(char *out, size_t size);

#endif
