#include "launch/signals.h"

#include "base/clock.h"
#include "base/tty.h"
#include "core/loss.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* The main thread's stack for handlers. oneDNN's products of matrices run with the stack pointer in
 * a heap block of their own: without another stack the kernel would save its registers over what
 * lies below that block. */
static _Alignas(64) unsigned char stack[1 << 16];

static volatile sig_atomic_t asked[DDP_REQUESTS];

static volatile sig_atomic_t asked_by; /* to end */
static _Atomic int64_t asked_ns;       /* when */

/* `timeout` and shells signal a process, and then its group: that is asked once. */
static const int64_t echo_ns = 250000000;

static pthread_t main_thread;
static int launched; /* by mpirun or srun */

static void on_signal(int number)
{
    asked[number == SIGUSR1 ? DDP_REQUEST_SAVE : DDP_REQUEST_STOP] = 1;
    if (number != SIGUSR1) {
        asked_by = number;
        asked_ns = ddp_clock_ns();
    }
}

int ddp_signals_is_echo(int64_t first_ns)
{
    return first_ns > 0 && ddp_clock_ns() - first_ns < echo_ns;
}

int ddp_signals_number(void)
{
    return asked_by;
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

static void let_go_of(int output)
{
    int flags = fcntl(output, F_GETFL);

    if (flags >= 0)
        (void)fcntl(output, F_SETFL, flags | O_NONBLOCK);
}

static void put(const char *text, size_t bytes)
{
    ssize_t said = write(STDERR_FILENO, text, bytes);

    (void)said;
}

static void erase_line(void)
{
    if (ddp_tty_erases(STDERR_FILENO))
        put(DDP_TTY_ERASE, sizeof DDP_TTY_ERASE - 1);
}

const char ddp_signals_ends_untrained[] =
    "darknet: the run ends before it has begun to train; nothing is saved\n";

void ddp_signals_say(const char *line)
{
    erase_line();
    put(line, strlen(line));
}

void ddp_signals_say_ending(void)
{
    ddp_signals_say("darknet: saving, then ending; once more to end at once\n");
}

/* The second Ctrl-C. */
static void on_end_at_once(int number)
{
    if (number == asked_by && ddp_signals_is_echo(asked_ns))
        return;
    erase_line();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static char *volatile lock; /* NULL: none */

void ddp_signals_remove_untrained(const char *path)
{
    if (!lock)
        lock = strdup(path);
}

/* On the main thread: another might come between the lock's file and its name here. */
static void on_end_untrained(int number)
{
    if (!pthread_equal(pthread_self(), main_thread)) {
        (void)pthread_kill(main_thread, number);
        return;
    }
    if (lock)
        (void)unlink(lock);
    put(ddp_signals_ends_untrained, strlen(ddp_signals_ends_untrained));
    on_end_at_once(number);
}

/* Once mpirun ends its ranks it reads nothing from them: who waits for it to do so never gets to
 * save. */
static void on_end(int number)
{
    int keep = errno;

    on_signal(number);
    if (launched) {
        let_go_of(STDOUT_FILENO);
        let_go_of(STDERR_FILENO);
        if (!pthread_equal(pthread_self(), main_thread))
            (void)pthread_kill(main_thread, SIGTERM); /* it may be the one that waits */
        if (number == SIGINT)
            take(number, on_end_at_once, 0);
    } else if (number == SIGINT) {
        ddp_signals_say_ending();
        take(number, on_end_at_once, 0);
    } else if (number == SIGTERM) {
        ddp_signals_say("darknet: saving, then ending\n");
    }
    errno = keep;
}

static void (*when_asked)(void);

static void on_question(int number)
{
    (void)number;
    when_asked();
}

void ddp_signals_answer_quit(void (*answer)(void))
{
    when_asked = answer;
    take(SIGQUIT, on_question, 0);
}

static sigset_t ignored; /* of SIGHUP and SIGINT, when the process began */

static void see_ignored(void)
{
    static const int numbers[] = {SIGHUP, SIGINT};
    struct sigaction action;

    (void)sigemptyset(&ignored);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            (void)sigaddset(&ignored, numbers[i]);
}

/* Runs before the constructors of libraries: UCX, which Open MPI 5 brings, takes SIGHUP in its. */
__attribute__((section(".preinit_array"), used)) static void (*const at_first)(void) = see_ignored;

int ddp_signals_is_ignored(int number)
{
    return sigismember(&ignored, number) == 1;
}

static void take_unless_ignored(int number, void (*handler)(int))
{
    take(number, ddp_signals_is_ignored(number) ? SIG_IGN : handler, 0);
}

volatile sig_atomic_t *ddp_signals_open(int trains_alone)
{
    const stack_t apart = {.ss_sp = stack, .ss_size = sizeof stack};

    main_thread = pthread_self();
    (void)sigaltstack(&apart, NULL);
    take(SIGUSR1, on_signal, 0);
    take(SIGUSR2, on_signal, 0);
    take(SIGXFSZ, SIG_IGN, 0);
    take(SIGPIPE, SIG_IGN, 0);
    if (trains_alone) {
        take(SIGTERM, on_end_untrained, 0);
        take_unless_ignored(SIGINT, on_end_untrained);
        take_unless_ignored(SIGHUP, on_end_untrained);
    }
    return asked;
}

void ddp_signals_save_and_end(int by_launcher)
{
    launched = by_launcher;
    take(SIGTERM, on_end, 0);
    take_unless_ignored(SIGINT, on_end);
    take_unless_ignored(SIGHUP, on_end);
}
