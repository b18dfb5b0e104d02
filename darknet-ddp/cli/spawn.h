/* cli/spawn.h: a launcher as a child that signals reach in the form that it can pass on. */
#ifndef DDP_CLI_SPAWN_H
#define DDP_CLI_SPAWN_H

#include "base/status.h"

/* Run args[0], found in PATH, with args (NULL behind the last) and nothing on standard input, until
 * it ends; *status becomes its exit status, or 128 + the signal that ended it. It has a process
 * group of its own, so a terminal's Ctrl-C comes here alone: the first SIGINT or SIGTERM becomes
 * SIGUSR2, with which ranks save and end (mpirun would give them a second), a later one SIGTERM.
 * SIGUSR1 and SIGUSR2 are passed on. If this process is killed, the child gets SIGTERM. On the main
 * thread, once. Fails with DDP_ERR_IO if it cannot be started. */
ddp_status ddp_spawn(const char *const *args, int *status, ddp_error *err) DDP_MUST_CHECK;

#endif
