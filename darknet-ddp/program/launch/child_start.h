/* launch/child_start.h: the start of a launcher (mpirun) as a child process, and the signals to
 * this process meanwhile. */
#ifndef DDP_LAUNCH_CHILD_START_H
#define DDP_LAUNCH_CHILD_START_H

#include "base/status.h"

#include <sys/types.h>

/* A process that was started. */
typedef struct ddp_child_process {
    pid_t pid;
    int out, err; /* pipes to read the process's standard output and error from; the caller closes
                     them */
} ddp_child_process;

/* Block the signals that ddp_child obeys, and return a descriptor that does not block, from which
 * they are read (signalfd); -1 if the kernel gives none. SIGHUP is not among them if it is ignored.
 * SIGPIPE is ignored from then on. */
int ddp_child_listen(void);

/* Run args[0], a path, with args (NULL after the last) and nothing on standard input, in a process
 * group of its own. The program gets end_signal if this process is killed. If end_signal is not
 * SIGTERM, SIGTERM and SIGINT are blocked in it. Call on the main thread, while it is the only one.
 * Fails with DDP_ERR_IO if the program cannot be started: descriptors are then left open. */
ddp_status ddp_child_start(ddp_child_process *c, const char *const *args, int end_signal,
                           ddp_error *err) DDP_MUST_CHECK;

#endif
