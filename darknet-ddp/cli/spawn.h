/* cli/spawn.h: a launcher as a child that signals reach in the form that it can pass on. */
#ifndef DDP_CLI_SPAWN_H
#define DDP_CLI_SPAWN_H

#include "base/status.h"

/* Run args[0], found in PATH, with args (NULL behind the last) and nothing on standard input, until
 * it ends, and end what it leaves behind; *status becomes its exit status, or 128 + the signal that
 * ended it. It has a process group of its own, so a terminal's Ctrl-C comes here alone.
 *
 * Once the ranks train (ddp_spawn_ready), the first SIGINT or SIGTERM becomes SIGUSR2, with which
 * they end the step, save and end (mpirun would give them a second): for as long as it takes if
 * patient, else for 3 s. A later one, or one before they train, becomes SIGTERM, and what is left
 * after 2 s is killed. SIGUSR1 and SIGUSR2 are passed on. If this process is killed, the child gets
 * SIGTERM.
 *
 * On the main thread, once, while it is the only one. Fails with DDP_ERR_IO if it cannot be
 * started. */
ddp_status ddp_spawn(const char *const *args, int patient, int *status,
                     ddp_error *err) DDP_MUST_CHECK;

/* Rank 0: all ranks train. Nothing happens if they were not started by ddp_spawn. */
void ddp_spawn_ready(void);

#endif
