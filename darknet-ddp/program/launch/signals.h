/* launch/signals.h: handlers of the signals that ask a run to save, to end, or to say where it
 * is. Call the functions that install them on the main thread. */
#ifndef DDP_LAUNCH_SIGNALS_H
#define DDP_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* Install the handlers of a run that does not train yet. Returns the flags that they set, valid for
 * good: SIGUSR1 sets flags[DDP_REQUEST_SAVE] to 1, SIGUSR2 flags[DDP_REQUEST_STOP] (core/loss.h).
 * From now on a write to a closed pipe, or beyond the limit of file sizes, fails without a signal.
 *   trains_alone  1: this process trains, and no launcher started it. SIGTERM then prints a
 *                 line and ends the process, as do Ctrl-C and SIGHUP unless they were ignored */
volatile sig_atomic_t *ddp_signals_open(int trains_alone);

/* Return 1 if this process was started with signal `number` ignored: SIGHUP, as by nohup, or
 * SIGINT, as by a shell in the background. The run then leaves that signal ignored. */
int ddp_signals_is_ignored(int number);

/* Name a file that is removed if SIGTERM, Ctrl-C or SIGHUP ends this process before it trains. Only
 * with trains_alone of ddp_signals_open. path is copied. Only the first call counts. */
void ddp_signals_remove_untrained(const char *path);

/* Print a line, which must end with a newline, on standard error. It erases a line of progress on
 * the terminal first. Safe in signal handlers. */
void ddp_signals_say(const char *line);

/* Return the last signal that has asked this process to save and end, SIGUSR2 included; 0: none. */
int ddp_signals_number(void);

/* Return 1 if a signal came less than 0.25 s ago, at first_ns (ddp_clock_ns; 0: none came); else 0.
 * If the same signal comes now, it is then an echo: some programs send each signal twice. */
int ddp_signals_is_echo(int64_t first_ns);

/* Print that the run saves and ends, and that another Ctrl-C would end it at once. */
void ddp_signals_say_ending(void);
/* Line, with its newline, that says that the run ends before it trains. */
extern const char ddp_signals_ends_untrained[];

/* Have SIGTERM, Ctrl-C (SIGINT) and SIGHUP ask the run to save and end, as SIGUSR2 does. A second
 * Ctrl-C ends the process at once. A SIGINT or SIGHUP that ddp_signals_is_ignored tells of stays
 * ignored. Call as soon as the run trains.
 *   by_launcher  1: a launcher started this process; such a signal then also makes its output
 *                non-blocking, because an mpirun that ends its ranks reads no output */
void ddp_signals_save_and_end(int by_launcher);

/* Have SIGQUIT call `answer` instead of ending the process. answer must be safe in a signal
 * handler. Call after ddp_signals_open. */
void ddp_signals_answer_quit(void (*answer)(void));

#endif
