#include "cli/signals.h"

#include <signal.h>
#include <string.h>

/* Of the main thread. oneDNN's products of matrices run with the stack pointer in a heap block
 * of their own: without another stack the kernel would save its registers over what lies
 * below that block. */
static _Alignas(64) unsigned char stack[1 << 16];

static void (*tell)(ddp_signal signal);

static void on_signal(int number)
{
    tell(number == SIGUSR1 ? DDP_SIGNAL_SAVE : DDP_SIGNAL_STOP);
}

void ddp_signals_open(void (*asked)(ddp_signal signal))
{
    const stack_t apart = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action;

    tell = asked;
    (void)sigaltstack(&apart, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGXFSZ, &action, NULL);
}
