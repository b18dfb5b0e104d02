/* launch/signals.h: signals that ask a run to save, or to save and end. Functions that install
 * handlers are for the main thread. */
#ifndef DDP_LAUNCH_SIGNALS_H
#define DDP_LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* Install the handlers of a run, before it trains. Returns the flags that they set (core/loss.h);
 * these stay valid. SIGUSR1 sets DDP_REQUEST_SAVE. SIGUSR2, which mpirun passes on to its ranks,
 * sets DDP_REQUEST_STOP. trains_alone: 1 if this process trains and no launcher started it. Then
 * the first SIGTERM, or Ctrl-C or SIGHUP that is not ignored, ends the run with a line, because
 * nothing was trained yet. SIGXFSZ does nothing: a write beyond the limit of file sizes fails and
 * is reported. SIGPIPE does nothing, because the reader of the output may end before the run. */
volatile sig_atomic_t *ddp_signals_open(int trains_alone);

/* Return 1 if this process was started to ignore SIGHUP, as by nohup, or SIGINT, as a shell's
 * program in the background. number: one of both. */
int ddp_signals_is_ignored(int number);

/* Have a signal that ends the run before it trains also remove the file at path; the string is
 * copied. Only the first call counts. */
void ddp_signals_remove_untrained(const char *path);

/* Print a line, which ends with its newline, on standard error, over one that renews itself. Safe
 * in handlers of signals. */
void ddp_signals_say(const char *line);

/* Return the signal that asked this process to end since ddp_signals_open; 0: none did. */
int ddp_signals_number(void);

/* Return 1 if now is less than 0.25 s after first_ns (ddp_clock_ns), when the same signal came
 * before. Both then count as one. first_ns 0: it has not come before. */
int ddp_signals_is_echo(int64_t first_ns);

/* Print that the run saves and ends, and that another Ctrl-C would end it at once. */
void ddp_signals_say_ending(void);
extern const char
    ddp_signals_ends_untrained[]; /* line, with its newline: the run ends before it trains */

/* Have SIGTERM do what SIGUSR2 does, and so the first SIGINT and the first SIGHUP, if they are not
 * ignored. Call as soon as the run trains. mpirun sends SIGTERM to the ranks that are left when one
 * has failed, or when it is told to end. An mpirun sends SIGKILL a second later, and reads no
 * output meanwhile. So with by_launcher 1 (a launcher started this process), output that nobody
 * takes is then dropped. */
void ddp_signals_take_term(int by_launcher);

/* Have SIGQUIT call `answer`, and do nothing else; answer must be safe in a handler of signals.
 * Call after ddp_signals_open. */
void ddp_signals_answer_quit(void (*answer)(void));

#endif
