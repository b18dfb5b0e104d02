#include "cli/spawn.h"

#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child;
static volatile sig_atomic_t ending;

static const int passed_on[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

enum { SIGNALS = sizeof passed_on / sizeof passed_on[0] };

static void pass_on(int number)
{
    int keep = errno;

    if (number == SIGINT || number == SIGTERM) {
        if (number == SIGINT && !ending)
            ddp_signals_say_ending();
        number = ending ? SIGTERM : SIGUSR2;
        ending = 1;
    }
    (void)kill((pid_t)child, number);
    errno = keep;
}

static void take_signals(void (*handler)(int), sigset_t *set)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    (void)sigemptyset(&action.sa_mask);
    (void)sigemptyset(set);
    for (int i = 0; i < SIGNALS; i++) {
        (void)sigaddset(set, passed_on[i]);
        (void)sigaction(passed_on[i], &action, NULL);
    }
}

/* In the child: become the program, or tell `answer` why not. */
static void become(const char *const *args, pid_t parent, int answer)
{
    sigset_t set;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), why;

    take_signals(SIG_DFL, &set);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && in >= 0 && dup2(in, STDIN_FILENO) >= 0)
        (void)execvp(args[0], (char *const *)args);
    why = errno;
    if (write(answer, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

ddp_status ddp_spawn(const char *const *args, int *status, ddp_error *err)
{
    int answer[2], why = 0, how = 0;
    pid_t pid, parent = getpid();
    ssize_t told;
    sigset_t set;

    if (pipe2(answer, O_CLOEXEC))
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(errno));
    take_signals(pass_on, &set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL); /* until there is a child to pass them on to */
    pid = fork();
    if (pid == 0)
        become(args, parent, answer[1]);
    child = pid;
    (void)close(answer[1]);
    told = pid < 0 ? 0 : read(answer[0], &why, sizeof why);
    (void)close(answer[0]);
    if (pid < 0 || told > 0) {
        if (pid < 0)
            why = errno;
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(why));
    }
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return ddp_fail(err, DDP_ERR_IO, "cannot wait for %s: %s", args[0], strerror(errno));
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return DDP_OK;
}
