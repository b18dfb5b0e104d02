#include "launch/child_start.h"

#include "launch/child.h"
#include "launch/output_relay.h"
#include "launch/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

pid_t ddp_child_starter(void)
{
    const char *text = getenv(DDP_STARTER_VARIABLE);
    char own[256] = "", host[256] = "";
    int number = 0;

    if (!text || gethostname(own, sizeof own - 1) || sscanf(text, "%d@%255s", &number, host) != 2)
        return 0;
    return number > 1 && strcmp(own, host) == 0 ? (pid_t)number : 0;
}

void ddp_child_tell(int to, ddp_launcher_note note)
{
    if (getenv(DDP_STARTER_VARIABLE))
        (void)dprintf(to, DDP_NOTE_LINE "%d\n", (int)note);
}

void ddp_child_tell_log(int to, const char *path)
{
    if (getenv(DDP_STARTER_VARIABLE))
        (void)dprintf(to, DDP_NOTE_LINE DDP_NOTE_LOG "%s\n", path);
}

/* Tell ranks which process starts them (ddp_child_starter). */
static void set_starter(void)
{
    char own[256] = "", text[300];

    (void)gethostname(own, sizeof own - 1);
    (void)snprintf(text, sizeof text, "%d@%s", (int)getpid(), own);
    (void)setenv(DDP_STARTER_VARIABLE, text, 1);
}

int ddp_child_listen(void)
{
    static const int heard[] = {SIGHUP,  SIGINT,  SIGTERM, SIGUSR1,
                                SIGUSR2, SIGQUIT, SIGTSTP, SIGCHLD};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof heard / sizeof heard[0]; i++) {
        int is_of_terminal = heard[i] == SIGHUP || heard[i] == SIGINT;

        if (is_of_terminal && ddp_signals_is_ignored(heard[i])) {
            (void)signal(heard[i], SIG_IGN);
            continue;
        }
        (void)signal(heard[i], SIG_DFL);
        (void)sigaddset(&set, heard[i]);
    }
    (void)signal(SIGPIPE, SIG_IGN); /* the relay sees it */
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* In the child: become the program, or answer why not. pipes: output, errors and the answer. */
static void become(const char *const *args, int end_signal, pid_t parent, int pipes[3][2])
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), why;
    sigset_t kept;

    (void)sigemptyset(&kept);
    if (end_signal != SIGTERM) {
        (void)sigaddset(&kept, SIGTERM);
        (void)sigaddset(&kept, SIGINT);
    }
    (void)sigprocmask(SIG_SETMASK, &kept, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, end_signal);
    if (getppid() == parent && in >= 0 && dup2(in, STDIN_FILENO) >= 0
        && dup2(pipes[0][1], STDOUT_FILENO) >= 0 && dup2(pipes[1][1], STDERR_FILENO) >= 0)
        (void)execv(args[0], (char *const *)args);
    why = errno;
    if (write(pipes[2][1], &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

ddp_status ddp_child_start(ddp_child_process *c, const char *const *args, int end_signal,
                           ddp_error *err)
{
    int pipes[3][2], why = 0;
    pid_t parent = getpid();

    set_starter();
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC))
            return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(errno));
    c->pid = fork();
    if (c->pid == 0)
        become(args, end_signal, parent, pipes);
    if (c->pid < 0)
        why = errno;
    for (int i = 0; i < 3; i++)
        (void)close(pipes[i][1]);
    if (c->pid > 0 && read(pipes[2][0], &why, sizeof why) <= 0)
        why = 0;
    (void)close(pipes[2][0]);
    c->out = pipes[0][0];
    c->err = pipes[1][0];
    if (why) {
        (void)unsetenv(DDP_STARTER_VARIABLE); /* ddp_child_tell is for ranks */
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(why));
    }
    return DDP_OK;
}
