#include "cli/spawn.h"

#include "base/clock.h"
#include "cli/descendants.h"
#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* With it ranks tell what started them that they train: nobody else minds it. */
enum { READY = SIGURG };

static const char starter_variable[] = "DARKNET_DDP_STARTER";

static const int listened_to[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, READY};

enum { SIGNALS = sizeof listened_to / sizeof listened_to[0] };

static const int64_t second_ns = 1000000000;

struct launcher {
    pid_t pid;
    int patient;
    int trains;          /* the ranks said so */
    int asked;           /* to save and end */
    int ended_by;        /* the signal that ends them at once */
    int64_t deadline_ns; /* then they are killed; 0: never */
};

void ddp_spawn_ready(void)
{
    const char *pid = getenv(starter_variable);
    long number = pid ? strtol(pid, NULL, 10) : 0;

    if (number > 1)
        (void)kill((pid_t)number, READY);
}

static void listen_to_signals(sigset_t *set)
{
    struct sigaction hangup;

    (void)sigemptyset(set);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        (void)sigaddset(set, SIGHUP); /* without nohup */
    for (int i = 0; i < SIGNALS; i++) {
        (void)signal(listened_to[i], SIG_DFL);
        (void)sigaddset(set, listened_to[i]);
    }
    (void)sigprocmask(SIG_BLOCK, set, NULL);
}

/* In the child: become the program, or tell `answer` why not. */
static void become(const char *const *args, pid_t parent, int answer)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), why;
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && in >= 0 && dup2(in, STDIN_FILENO) >= 0)
        (void)execvp(args[0], (char *const *)args);
    why = errno;
    if (write(answer, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* *pid becomes that of the program. */
static ddp_status start(pid_t *pid, const char *const *args, ddp_error *err)
{
    int answer[2], why = 0;
    pid_t parent = getpid();
    ssize_t told;

    if (pipe2(answer, O_CLOEXEC))
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(errno));
    *pid = fork();
    if (*pid == 0)
        become(args, parent, answer[1]);
    if (*pid < 0)
        why = errno;
    (void)close(answer[1]);
    told = *pid < 0 ? 0 : read(answer[0], &why, sizeof why);
    (void)close(answer[0]);
    if (*pid < 0 || told > 0)
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(why));
    return DDP_OK;
}

/* Has it ended? Whatever else has is a process that it left to us. */
static int has_ended(pid_t pid, int *how)
{
    pid_t ended;
    int status;

    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
        if (ended == pid) {
            *how = status;
            return 1;
        }
    return 0;
}

static void ask_to_end(struct launcher *l, int number)
{
    int saves = l->trains && !l->asked;

    if (saves && number == SIGINT)
        ddp_signals_say_ending();
    (void)kill(l->pid, saves ? SIGUSR2 : SIGTERM);
    if (saves) {
        l->asked = 1;
        l->deadline_ns = l->patient ? 0 : ddp_clock_ns() + 3 * second_ns;
    } else if (!l->ended_by) {
        l->deadline_ns = ddp_clock_ns() + 2 * second_ns;
    }
    if (!saves || !l->patient)
        l->ended_by = number;
}

static void take_signal(struct launcher *l, int number)
{
    if (number == READY)
        l->trains = 1;
    else if (number == SIGINT || number == SIGTERM || number == SIGHUP)
        ask_to_end(l, number);
    else if (number == SIGUSR1 || number == SIGUSR2)
        (void)kill(l->pid, number);
}

/* The next signal; 0 or less where none came before the deadline, or none of ours. */
static int next_signal(const struct launcher *l, const sigset_t *set)
{
    int64_t left = l->deadline_ns - ddp_clock_ns();
    struct timespec time;

    if (l->deadline_ns == 0)
        return sigwaitinfo(set, NULL);
    if (left < 0)
        left = 0;
    time = (struct timespec){.tv_sec = left / second_ns, .tv_nsec = left % second_ns};
    return sigtimedwait(set, NULL, &time);
}

ddp_status ddp_spawn(const char *const *args, int patient, int *status, ddp_error *err)
{
    struct launcher l = {.patient = patient};
    char self[16];
    int how = 0, killed = 0;
    sigset_t set;

    (void)snprintf(self, sizeof self, "%d", (int)getpid());
    (void)setenv(starter_variable, self, 1);
    listen_to_signals(&set);
    ddp_descendants_adopt();
    if (start(&l.pid, args, err))
        return err->code;
    while (!killed && !has_ended(l.pid, &how)) {
        take_signal(&l, next_signal(&l, &set));
        killed = l.deadline_ns > 0 && ddp_clock_ns() >= l.deadline_ns;
    }
    ddp_descendants_kill();
    if (killed)
        *status = 128 + l.ended_by;
    else
        *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return DDP_OK;
}
