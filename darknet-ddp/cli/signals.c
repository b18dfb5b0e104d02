#include "cli/signals.h"

#include "core/loss.h"

#include <string.h>

/* Of the main thread. oneDNN's products of matrices run with the stack pointer in a heap block
 * of their own: without another stack the kernel would save its registers over what lies
 * below that block. */
static _Alignas(64) unsigned char stack[1 << 16];

static volatile sig_atomic_t asked[DDP_REQUESTS];

static void on_signal(int number)
{
    asked[number == SIGUSR1 ? DDP_REQUEST_SAVE : DDP_REQUEST_STOP] = 1;
}

static void take(int number, void (*handler)(int), int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | SA_ONSTACK | flags;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

volatile sig_atomic_t *ddp_signals_open(void)
{
    const stack_t apart = {.ss_sp = stack, .ss_size = sizeof stack};

    (void)sigaltstack(&apart, NULL);
    take(SIGUSR1, on_signal, 0);
    take(SIGUSR2, on_signal, 0);
    take(SIGXFSZ, SIG_IGN, 0);
    return asked;
}

void ddp_signals_take_term(void)
{
    take(SIGTERM, on_signal, 0);
    take(SIGINT, on_signal, (int)SA_RESETHAND); /* a second one ends the process at once */
}
