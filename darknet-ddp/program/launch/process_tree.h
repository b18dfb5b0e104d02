/* launch/process_tree.h: signals to the tree of processes below this one: children, their children,
 * ... */
#ifndef DDP_LAUNCH_PROCESS_TREE_H
#define DDP_LAUNCH_PROCESS_TREE_H

#include <sys/types.h>

/* Make this process the parent of each process of the tree whose own parent ends, so that it stays
 * in the tree. Call before the first process is started. */
void ddp_become_subreaper(void);

/* Kill all processes of the tree, and wait until none is left, for 3 s at most. */
void ddp_process_tree_kill(void);

/* Call each(ctx, pid) for every process of the tree, which may have ended before its call. */
void ddp_process_tree_each(void (*each)(void *ctx, pid_t pid), void *ctx);

/* Send signal `number` (0: none, only count) to each process of the tree that runs this very
 * program. Returns how many got it. */
int ddp_process_tree_signal(int number);

/* Return 1 if signal `number` was sent to process `pid` and waits because the process blocks it. */
int ddp_process_has_pending(pid_t pid, int number);

/* Send signal `number` to one process below this one (a child, grandchild, ...): the first found
 * that runs this program and handles the signal. (One that does not handle it would die.) Returns
 * how many got it: 0 or 1. */
int ddp_process_tree_ask(int number);

#endif
