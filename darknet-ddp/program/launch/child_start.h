/* launch/child_start.h: starts a launcher (mpirun) and takes signals, for launch/child.h. */
#ifndef DDP_LAUNCH_CHILD_START_H
#define DDP_LAUNCH_CHILD_START_H

#include "base/status.h"

#include <sys/types.h>

/* A process that was started. */
typedef struct ddp_child_process {
    pid_t pid;
    int out, err; /* pipes with its standard output and error, to be read and closed */
} ddp_child_process;

/* Block the signals that ddp_child obeys. Returns a non-blocking descriptor from which they are
 * read (signalfd), or -1 if none can be made. SIGHUP and SIGINT stay ignored if this process was
 * started with them ignored. SIGPIPE is ignored from now on. */
int ddp_child_listen(void);

/* Start the program args[0], a path, with args (NULL after the last). The program has a process
 * group of its own and no standard input. DDP_STARTER_VARIABLE is set for it, and on success stays
 * set in this process. If this process is killed, the program gets end_signal. If end_signal is not
 * SIGTERM, the program begins with SIGTERM and SIGINT blocked. Call on the main thread, while there
 * is no other thread. Fails with DDP_ERR_IO if the program cannot be started. */
ddp_status ddp_child_start(ddp_child_process *c, const char *const *args, int end_signal,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
