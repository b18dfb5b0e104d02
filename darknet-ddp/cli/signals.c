#include "cli/signals.h"

#include <signal.h>
#include <string.h>

static void (*tell)(ddp_signal signal);

static void on_signal(int number)
{
    tell(number == SIGUSR1 ? DDP_SIGNAL_SAVE : DDP_SIGNAL_STOP);
}

void ddp_signals_open(void (*asked)(ddp_signal signal))
{
    struct sigaction action;

    tell = asked;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGXFSZ, &action, NULL);
}
