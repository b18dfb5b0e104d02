/* launch/signals.h: signals that ask a run to save, or to save and end. */
#ifndef DDP_LAUNCH_SIGNALS_H
#define DDP_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* Take the signals of a run before it trains. Returns the flags that they set (core/loss.h), which
 * stay for good: SIGUSR1 sets DDP_REQUEST_SAVE, and SIGUSR2, which mpirun passes on to its ranks,
 * DDP_REQUEST_STOP. With trains_alone (it trains, and no launcher started it) the first Ctrl-C,
 * SIGTERM, or SIGHUP that is not ignored, ends it with a line: nothing was trained yet.
 * SIGXFSZ does nothing: a write beyond the limit of file sizes fails and is reported. Nor does
 * SIGPIPE: the reader of the output may end before the run. On the main thread. */
volatile sig_atomic_t *ddp_signals_open(int trains_alone);

/* Have an end before training remove this file, too. Only the first call counts. */
void ddp_signals_remove_untrained(const char *path);

/* Print a line on standard error, in place of one that renews itself. For handlers of signals; it
 * may go unread. */
void ddp_signals_say(const char *line);

/* The signal that asked this process to end since ddp_signals_open; 0: none did. */
int ddp_signals_number(void);

/* Does a signal come so soon after the same one at first_ns (0: there was none) that both are one
 * wish? */
int ddp_signals_is_echo(int64_t first_ns);

/* Print what the Ctrl-C that was heard does, and what another would. */
void ddp_signals_say_ending(void);
extern const char ddp_signals_ends_untrained[]; /* a line */

/* Take SIGTERM for SIGUSR2, once the run trains. The first SIGINT, and SIGHUP unless it is ignored,
 * are taken so, too. SIGTERM comes from mpirun to the ranks that are left when one has failed, or
 * when mpirun is told to end. SIGKILL follows a second later, and mpirun reads no output meanwhile.
 * So a process that a launcher started (by_launcher) then drops output that nobody takes. On the
 * main thread. */
void ddp_signals_take_term(int by_launcher);

/* Have SIGQUIT call answer, which must be safe in a handler of signals, and do nothing else. On the
 * main thread, after ddp_signals_open. */
void ddp_signals_answer_quit(void (*answer)(void));

#endif
