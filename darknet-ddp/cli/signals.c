#include "cli/signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t save_asked, stop_asked;

static void leave_word(int number)
{
    if (number == SIGTERM)
        stop_asked = 1;
    else
        save_asked = 1;
}

void ddp_signals_open(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = leave_word;
    action.sa_flags = SA_RESTART;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGXFSZ, &action, NULL);
}

ddp_signal ddp_signals_take(void)
{
    if (stop_asked)
        return DDP_SIGNAL_STOP;
    if (!save_asked)
        return DDP_SIGNAL_NONE;
    save_asked = 0;
    return DDP_SIGNAL_SAVE;
}
