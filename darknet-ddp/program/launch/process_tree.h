/* launch/process_tree.h: finds, signals and kills the tree of processes below this one: its
 * children, their children, and so on. */
#ifndef DDP_LAUNCH_PROCESS_TREE_H
#define DDP_LAUNCH_PROCESS_TREE_H

#include <sys/types.h>

/* Keep the tree whole: if a process of the tree ends, its children become children of this process.
 * Call before the first process is started. */
void ddp_become_subreaper(void);

/* Kill all processes of the tree, and reap them until none is left, for 3 s at most. */
void ddp_process_tree_kill(void);

/* Call each(ctx, pid) for every process of the tree. Some may have ended by then. */
void ddp_process_tree_each(void (*each)(void *ctx, pid_t pid), void *ctx);

/* Send signal `number` to each rank on this host: each process of the tree that runs the same
 * program as this one. Returns to how many it was sent. number 0 only counts them. */
int ddp_process_tree_signal(int number);

/* Return 1 if process `pid` blocks signal `number`, and somebody has sent it one. */
int ddp_process_has_pending(pid_t pid, int number);

/* Send signal `number` to one rank on this host that has a handler for it; others would die of it.
 * Returns 1; 0 if there is none. */
int ddp_process_tree_signal_one(int number);

#endif
