/* launch/child.h: a launcher (mpirun) as a child process. Signals to this process become what the
 * launcher can pass on to its ranks; its output comes through this process. */
#ifndef DDP_LAUNCH_CHILD_H
#define DDP_LAUNCH_CHILD_H

#include "base/status.h"
#include "launch/start_watch.h"

#include <sys/types.h>

/* How a launcher and its ranks have ended. Members other than status are 1 if what they say is so,
 * else 0. */
typedef struct ddp_exit_info {
    int status;  /* exit status of the job, or 128 + the signal that ended it; 0 if rank 0 had done
                    all */
    int begun;   /* a rank has begun */
    int failed;  /* status is not 0, and nobody had asked the ranks to end */
    int trained; /* all ranks have begun to train */
    int saved;   /* a checkpoint was saved, or the run went on from one */
    int taken;   /* another run has taken over the folder, and has what was saved */
    int advised; /* a sentence was printed on how to go on */
} ddp_exit_info;

typedef struct ddp_child_config {
    int patient; /* 1: ranks that are asked to end may take as long as they need; 0: 3 s */
    double
        grace_s; /* more than 0: seconds that ranks asked to end may take; `patient` is ignored */
    /* Called once with DDP_LAUNCH_IS_SLOW if no rank begins for some time, and once with another
     * verdict if the start does not come to its end; the child is then killed. NULL: the start is
     * not watched. */
    void (*say_start)(void *ctx, ddp_start_verdict verdict, const ddp_start_watch *start);
    void *ctx;
    double start_limit_s; /* seconds in which a rank must begin (ddp_start_watch); 0: no limit */
    int ranks_here;       /* how many ranks are to run on this host; 0: not known */
    int verbose;          /* 1: if the job fails, a launcher's own words are printed, too */
    int trains;           /* 1: the ranks are to train, and save what they have trained */
    /* 1: SIGUSR1 and SIGUSR2 reach the ranks of this host alone: the launcher passes none on */
    int keeps_signals;
    /* The signal by which this process has the launcher end its ranks. If it is not SIGTERM, the
     * launcher blocks SIGTERM and SIGINT. If somebody sends one of them to the launcher, this
     * process takes it, within a second, as sent to itself. */
    int end_signal;
} ddp_child_config;

/* Notes that ranks send to the process that started the launcher; bits. */
typedef enum ddp_launcher_note {
    DDP_NOTE_TRAINS = 1,  /* all ranks train */
    DDP_NOTE_SAVED = 2,   /* a checkpoint was saved, or the run goes on from one */
    DDP_NOTE_FAILS = 4,   /* this rank ends the job */
    DDP_NOTE_DONE = 8,    /* all is done and saved: only the end is left, of exit status 0 */
    DDP_NOTE_LACKS = 16,  /* all is done, and something is missing: exit status 1 */
    DDP_NOTE_BEGINS = 32, /* a rank runs */
    DDP_NOTE_COMMITS =
        64, /* training begins, and no rank was asked to end: if asked now, the run saves first */
    DDP_NOTE_UNTRAINED =
        128, /* a rank was asked to end before training: all end, and have written nothing */
    DDP_NOTE_TAKEN = 256, /* another run has taken over this run's folder */
    DDP_NOTE_MEET = 512   /* all ranks have met: their group is open */
} ddp_launcher_note;

/* Environment variable by which ranks know that ddp_child started them, and where: PID@HOST. */
#define DDP_STARTER_VARIABLE "DARKNET_DDP_STARTER"

/* Run args[0], a path, with args (NULL after the last) and nothing on standard input, until it
 * ends, and end what it leaves behind. What it prints passes through this process
 * (launch/output_relay.h): an output that nobody reads ends nothing. The child has a process group
 * of its own, so a terminal's Ctrl-C comes here alone. Where a signal ended a rank, a sentence says
 * so, and how much memory the rank had; where no rank has said why the job failed, one says that.
 *
 * What a signal to this process does:
 *
 * 1. SIGINT, SIGTERM or SIGHUP, before ranks that are to train have told whether they commit:
 *    SIGUSR2 goes to the ranks every 0.1 s. (An mpirun that starts them may pass one on to nobody.)
 *    The ranks agree one time whether any rank has got SIGUSR2. If so, all end without writing
 *    anything. What is left after 2 s is killed.
 * 2. The first of these signals after they have committed: SIGUSR2 goes to the ranks. The ranks end
 *    the step, save and end, and have as long for it as `patient` and grace_s say.
 * 3. A later one, or any if the ranks are not to train: the launcher gets end_signal, and what
 *    is left after 2 s is killed.
 * 4. SIGUSR1 and SIGUSR2 go to the ranks.
 * 5. SIGQUIT goes to one rank of this host that handles it. If none does, ranks that are not to
 *    train end as in 3.
 * 6. SIGTSTP stops the ranks and this process; SIGCONT has them go on.
 * 7. If this process is killed, the launcher gets end_signal.
 *
 * Processes that are left are also killed 5 s after a rank has failed: mpirun may wait for minutes
 * for a host that is away. They are killed 15 s after rank 0 has done all: mpirun does not end
 * while somebody keeps a connection to it open.
 *
 * Call on the main thread, while it is the only one. Fails with DDP_ERR_IO if args[0] cannot be
 * started; *ended is then all zero. */
ddp_status ddp_child(const char *const *args, const ddp_child_config *config, ddp_exit_info *ended,
                     ddp_error *err) DDP_MUST_CHECK;

/* Return the process on this host that has started this rank by ddp_child; 0: none has. */
pid_t ddp_child_starter(void);

/* In a rank: send a note to the process that has started the rank, on standard error, which is now
 * the descriptor `to`. Does nothing if ddp_child has not started the rank. From any thread. */
void ddp_child_tell(int to, ddp_launcher_note note);

/* In rank 0: send the path of NAME.log to the process that has started the rank, as ddp_child_tell
 * does. */
void ddp_child_tell_log(int to, const char *path);

#endif
