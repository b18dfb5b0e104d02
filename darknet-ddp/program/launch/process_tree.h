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

/* The same to one that has a handler for it, which others would die of. */
int ddp_process_tree_ask(int number);

#endif
