/* cli/signals.h: signals that ask a run to save. */
#ifndef DDP_CLI_SIGNALS_H
#define DDP_CLI_SIGNALS_H

typedef enum ddp_signal {
    DDP_SIGNAL_SAVE, /* SIGUSR1: save and go on */
    DDP_SIGNAL_STOP  /* SIGTERM, SIGUSR2: save and exit with status 0. mpirun passes the second on
                        to its ranks, and answers the first with kill -9 after two seconds. */
} ddp_signal;

/* From here on these signals only call asked, which must be safe in a signal handler,
 * and SIGXFSZ does nothing: a write beyond the limit of file sizes then fails, and is
 * reported. On the main thread, after MPI_Init, which may set handlers of its own. */
void ddp_signals_open(void (*asked)(ddp_signal signal));

#endif
