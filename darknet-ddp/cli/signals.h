/* cli/signals.h: signals that ask a run to save. */
#ifndef DDP_CLI_SIGNALS_H
#define DDP_CLI_SIGNALS_H

/* What a signal asked for; the greater one counts where ranks were asked for different things. */
typedef enum ddp_signal {
    DDP_SIGNAL_NONE,
    DDP_SIGNAL_SAVE, /* SIGUSR1: save and go on */
    DDP_SIGNAL_STOP  /* SIGTERM: save and exit with status 0 */
} ddp_signal;

/* From here on SIGTERM and SIGUSR1 only leave word, and SIGXFSZ does nothing: a write
 * beyond the limit of file sizes then fails, and is reported. After MPI_Init, which may set
 * handlers of its own. */
void ddp_signals_open(void);

/* What was asked of this process since the last call. A stop is never forgotten. */
ddp_signal ddp_signals_take(void);

#endif
