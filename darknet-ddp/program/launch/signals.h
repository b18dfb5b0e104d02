/* launch/signals.h: signals that ask a run to save, or to save and end. */
#ifndef DDP_LAUNCH_SIGNALS_H
#define DDP_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* From here on SIGUSR1 sets flag DDP_REQUEST_SAVE, and SIGUSR2, which mpirun passes on to its
 * ranks, DDP_REQUEST_STOP of the flags that it returns (core/loss.h), which stay for good.
 * The first Ctrl-C or SIGTERM of a process that trains, and that no launcher started, or SIGHUP
 * where it is not ignored, says that nothing was trained yet, and ends it. SIGXFSZ does nothing: a
 * write beyond the limit of file sizes then fails, and is reported; nor does SIGPIPE: whoever read
 * the output may end before the run. On the main thread.
 */
volatile sig_atomic_t *ddp_signals_open(int trains_alone);

/* Such an end removes this file, too: the first that is told. */
void ddp_signals_remove_untrained(const char *path);

/* Print a line on standard error, in place of one that renews itself. For handlers of signals; it
 * may go unread. */
void ddp_signals_say(const char *line);

/* The signal that asked this process to end since ddp_signals_open; 0: none did. */
int ddp_signals_number(void);

/* Does a signal come so soon after the same one at first_ns (0: there was none) that both are one
 * wish? */
int ddp_signals_is_echo(int64_t first_ns);

/* A Ctrl-C has been heard: what it does, and what another would. */
void ddp_signals_say_ending(void);
extern const char ddp_signals_ends_untrained[]; /* a line */

/* From here on SIGTERM means what SIGUSR2 does, and so do the first SIGINT, and SIGHUP, of a
 * terminal that is closed, unless it is ignored. mpirun sends SIGTERM to the ranks that are left
 * when one has failed, or when it is told to end, and kill -9 a second later; it reads no output
 * meanwhile, so where this process was started by a launcher, output that nobody takes is dropped
 * from then on. On the main thread. */
void ddp_signals_take_term(int by_launcher);

/* From here on SIGQUIT calls answer, which must be safe in a handler of signals, and nothing else
 * happens. On the main thread, after ddp_signals_open. */
void ddp_signals_answer_quit(void (*answer)(void));

#endif
