/* launch/child.h: a launcher as a child process, and signals to it in the form that it can pass on
 * to ranks. */
#ifndef DDP_LAUNCH_CHILD_H
#define DDP_LAUNCH_CHILD_H

#include "base/status.h"

#include <sys/types.h>

/* How it ended. */
typedef struct ddp_exit_info {
    int status;  /* exit status, or 128 + the signal that ended it; 0 where rank 0 had done all */
    int begun;   /* a rank */
    int failed;  /* not 0, and nobody had asked it to end */
    int trained; /* the ranks got so far */
    int saved;   /* a checkpoint */
    int taken;   /* over by another run, which has what was saved */
    int advised; /* it was said how to go on */
} ddp_exit_info;

typedef struct ddp_child_config {
    int patient;    /* ranks may take what they need to end when they are asked to, else 3 s */
    double grace_s; /* more than 0: so long, whatever patient says */
    /* While no rank has begun: called once after 10 s, or half of start_limit_s, and where
     * start_limit_s (0: never) have passed, with ends: then the child is killed. NULL: nobody
     * asks. */
    void (*say_start)(void *ctx, double waited_s, int ends);
    void *ctx;
    double start_limit_s;
    int verbose;       /* a launcher's own words are printed, too */
    int trains;        /* the ranks are to train, and save what they have trained */
    int keeps_signals; /* passes SIGUSR1 and SIGUSR2 on to nobody: this host's ranks get them */
    /* The signal at which the launcher ends its ranks. Where it is not SIGTERM the launcher does
     * not get SIGTERM and SIGINT, which count as sent to this process within a second. */
    int end_signal;
} ddp_child_config;

/* What ranks tell the process that started them. */
typedef enum ddp_launcher_note {
    DDP_NOTE_TRAINS = 1,      /* all ranks do */
    DDP_NOTE_SAVED = 2,       /* a checkpoint, or the run goes on from one */
    DDP_NOTE_FAILS = 4,       /* this rank ends the job */
    DDP_NOTE_DONE = 8,        /* all is done and saved: only the end is left, of exit status 0 */
    DDP_NOTE_LACKS = 16,      /* the same with exit status 1 */
    DDP_NOTE_BEGINS = 32,     /* a rank runs */
    DDP_NOTE_COMMITS = 64,    /* no rank had been asked to end: from here on an end is saved */
    DDP_NOTE_UNTRAINED = 128, /* one had: all end, and have written nothing */
    DDP_NOTE_TAKEN = 256      /* another run has taken over its folder */
} ddp_launcher_note;

/* An environment variable that ranks of ddp_child have. */
#define DDP_STARTER_VARIABLE "DARKNET_DDP_STARTER"

/* Run args[0], a path, with args (NULL after the last) and nothing on standard input, until it
 * ends, and end what it leaves behind. What it prints passes through this process
 * (launch/output_relay.h): an output that nobody reads ends nothing. It has a process group of its
 * own, so a terminal's Ctrl-C comes here alone. Where a signal ended a rank, a sentence says so,
 * and how much memory the rank had; where no rank has said why the job failed, one says that.
 *
 * The first SIGINT or SIGTERM becomes SIGUSR2 (mpirun would give ranks that get SIGTERM a second).
 * Ranks that train end the step, save and end, for as long as config says. Before that they agree
 * once whether any of them was asked to end: then they end without writing anything, else
 * they commit. Until they have told which SIGUSR2 is sent again and again, since a mpirun
 * that starts its ranks may pass it on to nobody, and what is left after 2 s is killed. A later
 * signal, or one to ranks that are not to train, becomes SIGTERM, and what is left after 2 s is
 * killed; so is what is left 5 s after a rank has failed (mpirun waits for a host that is away for
 * minutes), or 15 s after rank 0 has done all (who keeps a connection to mpirun open keeps it from
 * ending). SIGUSR1 and SIGUSR2 are passed on, and SIGQUIT to one rank of this host; ranks that do
 * not train, and have no handler for it, it ends. SIGTSTP stops the ranks and this process, and
 * SIGCONT has them go on. If this process is killed, the child gets SIGTERM.
 *
 * On the main thread, while it is the only one. Fails with DDP_ERR_IO if it cannot be started. */
ddp_status ddp_child(const char *const *args, const ddp_child_config *config, ddp_exit_info *ended,
                     ddp_error *err) DDP_MUST_CHECK;

/* The process that started this one's ranks by ddp_child, on this host; 0: none did. */
pid_t ddp_child_starter(void);

/* In a rank: tell that, on its standard error, which is `to` now. Nothing happens if it was not
 * started by ddp_child. From any thread. */
void ddp_child_tell(int to, ddp_launcher_note note);

/* The same: rank 0 writes this file (its path) as NAME.log. */
void ddp_child_tell_log(int to, const char *path);

#endif
