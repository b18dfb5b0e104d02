/* launch/child.h: runs a launcher (mpirun) as a child process. What its ranks print passes through
 * this process (launch/output_relay.h).
 *
 * The launcher's process group is its own, so a terminal's Ctrl-C reaches this process alone.
 * Signals to this process do this:
 *
 *   - SIGTERM asks for the end, and so do SIGINT and SIGHUP, if they were not ignored at the start.
 *     Ranks that have agreed to train (DDP_NOTE_COMMITS) get SIGUSR2, end the step, save and end.
 *     If none can get it, or at a later such signal, the launcher gets end_signal. Ranks that have
 *     not yet agreed get SIGUSR2 every 0.1 s (mpirun may lose one), and end with nothing written.
 *   - If the ranks are not to train, the launcher gets end_signal at once.
 *   - SIGUSR1 and SIGUSR2 go to the ranks. SIGTSTP stops the ranks and this process; SIGCONT lets
 *     them go on.
 *   - SIGQUIT goes to one rank of this host that handles it. If none does, it asks ranks that do
 *     not train for the end.
 *   - If this process is killed, the launcher gets end_signal.
 *
 * The launcher and its ranks are killed if they still run some time later: config->save_s after
 * ranks that save were asked to end, 2 s after others were. They are killed 5 s after an error of a
 * rank (DDP_NOTE_FAILS): mpirun may wait for minutes for a host that is down. They are killed 15 s
 * after all is done (DDP_NOTE_DONE, _LACKS): mpirun waits for all that are connected to it. */
#ifndef DDP_LAUNCH_CHILD_H
#define DDP_LAUNCH_CHILD_H

#include "base/status.h"
#include "launch/start_watch.h"

#include <sys/types.h>

/* How a launcher and its ranks have ended. */
typedef struct ddp_exit_info {
    int status; /* exit status of the job; 128 + N if signal N ended it */
    int begun;  /* 1: a rank has sent DDP_NOTE_BEGINS */
    /* 1: status is not 0, and no signal asked for the end: none that this process obeys, and none
     * to a rank that did not train yet */
    int failed;
    int trained; /* 1: all ranks have begun to train */
    int saved;   /* 1: a checkpoint was saved, or the run went on from one */
    int taken;   /* 1: another run has taken over the folder with the checkpoints */
    int advised; /* 1: a sentence was printed on how to go on */
} ddp_exit_info;

typedef struct ddp_child_config {
    double save_s; /* seconds that ranks may take to save and end; less than 0: no limit */
    /* Called once with DDP_LAUNCH_IS_SLOW if no rank begins for some time. Called once with another
     * verdict if the start fails; the child is then killed. start: what was seen of the start so
     * far. NULL: the start is not watched. */
    void (*say_start)(void *ctx, ddp_start_verdict verdict, const ddp_start_watch *start);
    void *ctx;            /* first argument of say_start */
    double start_limit_s; /* seconds until the first rank must have begun; 0: no limit */
    int ranks_here;       /* number of the job's ranks on this host; 0: not known */
    int verbose;          /* 1: if the job fails, a launcher's own messages are printed, too */
    int trains;           /* 1: the ranks train, and save before they end */
    /* 1: the launcher passes SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT on to the ranks of all hosts.
     * 0: this process sends them, SIGSTOP for SIGTSTP, to the ranks of this host */
    int forwards_signals;
    /* Signal that makes the launcher end its ranks. If it is not SIGTERM, the launcher blocks
     * SIGTERM and SIGINT; this process obeys in its place if one is sent to the launcher. */
    int end_signal;
} ddp_child_config;

/* Notes that ranks send to the process that started the launcher; bits. */
typedef enum ddp_launcher_note {
    DDP_NOTE_TRAINS = 1,      /* all ranks train; no earlier run's files are in the way */
    DDP_NOTE_SAVED = 2,       /* a checkpoint was saved, or the run goes on from one */
    DDP_NOTE_FAILS = 4,       /* this rank has met an error, and ends the job */
    DDP_NOTE_DONE = 8,        /* all is done and saved; the exit status will be 0 */
    DDP_NOTE_LACKS = 16,      /* all is done; the exit status is not 0, as after a failed save */
    DDP_NOTE_BEGINS = 32,     /* this rank has begun */
    DDP_NOTE_COMMITS = 64,    /* all have agreed to train; ranks that are asked to end now save */
    DDP_NOTE_UNTRAINED = 128, /* all ranks end before training, as asked, with nothing written */
    DDP_NOTE_TAKEN = 256,     /* another run has taken over this run's folder */
    DDP_NOTE_MEET = 512       /* all ranks have met: their group is open */
} ddp_launcher_note;

/* Environment variable with PID@HOST of ddp_child's process, which sets it, on success for good. */
#define DDP_STARTER_VARIABLE "DARKNET_DDP_STARTER"

/* Run args[0], a path, with args (NULL after the last) and without standard input. Wait until it
 * has ended, and kill all processes below this one. *ended then says how it ended; if the job
 * failed, a line on standard error says why. The signals above stay blocked in this process.
 * Call on the main thread, while it is the only one. Fails with DDP_ERR_IO if args[0] cannot be
 * started; *ended is then all zero. */
ddp_status ddp_child(const char *const *args, const ddp_child_config *config, ddp_exit_info *ended,
                     ddp_error *err) DDP_MUST_CHECK;

/* Return the number of the process that started this rank's launcher by ddp_child. Returns 0 if
 * there is none, or it is on another host. */
pid_t ddp_child_starter(void);

/* In a rank: send a note to the process that started the rank by ddp_child. Does nothing if the
 * rank was started otherwise. to: the descriptor of the rank's standard error. From any thread. */
void ddp_child_tell(int to, ddp_launcher_note note);

/* In rank 0: send the path of NAME.log to the process that started the rank by ddp_child. Does
 * nothing if the rank was started otherwise. to: the descriptor of the rank's standard error. */
void ddp_child_tell_log(int to, const char *path);

#endif
