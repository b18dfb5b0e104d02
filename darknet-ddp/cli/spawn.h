/* cli/spawn.h: a launcher as a child that signals reach in the form that it can pass on. */
#ifndef DDP_CLI_SPAWN_H
#define DDP_CLI_SPAWN_H

#include "base/status.h"

#include <sys/types.h>

/* How it ended. */
typedef struct ddp_ended {
    int status;  /* exit status, or 128 + the signal that ended it */
    int failed;  /* not 0, and nobody had asked it to end */
    int trained; /* the ranks got so far */
    int advised; /* it was said how to go on */
} ddp_ended;

/* Run args[0], a path, with args (NULL behind the last) and nothing on standard input, until it
 * ends, and end what it leaves behind. What it prints passes through this process (cli/relay.h):
 * an output that nobody reads ends nothing. It has a process group of its own, so a terminal's
 * Ctrl-C comes here alone. Where a signal ended a rank, a sentence says so, and how much memory the
 * rank had.
 *
 * Once the ranks train (ddp_spawn_ready), the first SIGINT or SIGTERM becomes SIGUSR2, with which
 * they end the step, save and end (mpirun would give them a second): for as long as it takes if
 * patient, else for 3 s. A later one, or one before they train, becomes SIGTERM, and what is left
 * after 2 s is killed. SIGUSR1 and SIGUSR2 are passed on. If this process is killed, the child gets
 * SIGTERM.
 *
 * On the main thread, while it is the only one. Fails with DDP_ERR_IO if it cannot be started. */
ddp_status ddp_spawn(const char *const *args, int patient, ddp_ended *ended,
                     ddp_error *err) DDP_MUST_CHECK;

/* The process that started this one's ranks by ddp_spawn, on this host; 0: none did. */
pid_t ddp_spawn_starter(void);

/* Rank 0: all ranks train. Nothing happens if they were not started by ddp_spawn. */
void ddp_spawn_ready(void);

#endif
