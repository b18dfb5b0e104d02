/* launch/process_tree.h: signals to what this process started, and what that started in turn. */
#ifndef DDP_LAUNCH_PROCESS_TREE_H
#define DDP_LAUNCH_PROCESS_TREE_H

#include <sys/types.h>

/* From here on a process below this one whose parent has ended is a child of this one, and is
 * found below. */
void ddp_become_subreaper(void);

/* End them all with SIGKILL, and wait until none is left, for 3 s at most. */
void ddp_process_tree_kill(void);

/* Call each with every process below this one. */
void ddp_process_tree_each(void (*each)(void *ctx, pid_t pid), void *ctx);

/* Send a signal to those of them that run this very program. Returns how many. */
int ddp_process_tree_signal(int number);

/* Return 1 if a signal to the process waits until the process no longer blocks it. */
int ddp_process_has_pending(pid_t pid, int number);

/* Send a signal to one process of the tree that runs this very program and handles the signal: of
 * its default action others would die. Returns how many got it: 0 or 1. */
int ddp_process_tree_ask(int number);

#endif
