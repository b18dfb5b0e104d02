#include "launch/child.h"

#include "base/clock.h"
#include "base/tty.h"
#include "launch/mpirun.h"
#include "launch/oom.h"
#include "launch/output_relay.h"
#include "launch/process_tree.h"
#include "launch/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int listened_to[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT, SIGTSTP, SIGCHLD};

enum { SIGNALS = sizeof listened_to / sizeof listened_to[0] };

static const int64_t second_ns = 1000000000;

/* LOOK_MS: how often the ranks' memory is looked at; FAIL_S and END_S: after these a job that
 * has failed, or is done, is killed. */
enum { LOOK_MS = 1000, ASK_MS = 100, FAIL_S = 5, END_S = 15, SAY_START_S = 10, LAST_READS = 16 };

struct launcher {
    pid_t pid;
    int signals; /* a descriptor that gives them */
    ddp_output_relay out, err;
    ddp_oom memory;
    int64_t looked_ns;
    ddp_child_config config;
    int64_t began_ns;
    int said_start;      /* that no rank has begun yet */
    int gave_up;         /* waiting for one */
    int trains;          /* the ranks said so */
    int asked;           /* to save and end */
    int asked_by;        /* by which signal */
    int64_t asked_ns;    /* when */
    int ended_by;        /* the signal that ends them at once */
    int64_t told_ns;     /* when ranks that had not committed were last asked to end */
    int64_t deadline_ns; /* then they are killed; 0: never */
};

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

static void set_starter(void)
{
    char own[256] = "", text[300];

    (void)gethostname(own, sizeof own - 1);
    (void)snprintf(text, sizeof text, "%d@%s", (int)getpid(), own);
    (void)setenv(DDP_STARTER_VARIABLE, text, 1);
}

/* A descriptor to read them from; -1 on failure. */
static int listen_to_signals(void)
{
    struct sigaction hangup;
    sigset_t set;

    (void)sigemptyset(&set);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        (void)sigaddset(&set, SIGHUP); /* without nohup */
    for (int i = 0; i < SIGNALS; i++) {
        (void)signal(listened_to[i], SIG_DFL);
        (void)sigaddset(&set, listened_to[i]);
    }
    (void)signal(SIGPIPE, SIG_IGN); /* the relay sees it */
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Signals by which others end a launcher. */
static const int ends[] = {SIGTERM, SIGINT};

enum { ENDS = sizeof ends / sizeof ends[0] };

/* Are these kept from the launcher? */
static int keeps_ends(const struct launcher *l)
{
    return l->config.end_signal != SIGTERM;
}

/* Ends of pipes. */
struct pipes {
    int out[2], err[2], answer[2];
};

static int open_pipes(struct pipes *p)
{
    if (pipe2(p->out, O_CLOEXEC))
        return -1;
    if (pipe2(p->err, O_CLOEXEC)) {
        (void)close(p->out[0]);
        (void)close(p->out[1]);
        return -1;
    }
    if (pipe2(p->answer, O_CLOEXEC) == 0)
        return 0;
    for (int end = 0; end < 2; end++) {
        (void)close(p->out[end]);
        (void)close(p->err[end]);
    }
    return -1;
}

/* In the child: become the program, or answer why not. */
static void become(const struct launcher *l, const char *const *args, pid_t parent,
                   const struct pipes *p)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), why;
    sigset_t kept;

    (void)sigemptyset(&kept);
    for (size_t i = 0; keeps_ends(l) && i < ENDS; i++)
        (void)sigaddset(&kept, ends[i]);
    (void)sigprocmask(SIG_SETMASK, &kept, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, l->config.end_signal);
    if (getppid() == parent && in >= 0 && dup2(in, STDIN_FILENO) >= 0
        && dup2(p->out[1], STDOUT_FILENO) >= 0 && dup2(p->err[1], STDERR_FILENO) >= 0)
        (void)execv(args[0], (char *const *)args);
    why = errno;
    if (write(p->answer[1], &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

/* Start the program: l->pid is its process, and l's relays pass on what it prints. */
static ddp_status start(struct launcher *l, const char *const *args, ddp_error *err)
{
    struct pipes p;
    int why = 0;
    pid_t parent = getpid();
    ssize_t told;

    if (open_pipes(&p))
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(errno));
    l->pid = fork();
    if (l->pid == 0)
        become(l, args, parent, &p);
    if (l->pid < 0)
        why = errno;
    (void)close(p.out[1]);
    (void)close(p.err[1]);
    (void)close(p.answer[1]);
    told = l->pid < 0 ? 0 : read(p.answer[0], &why, sizeof why);
    (void)close(p.answer[0]);
    ddp_output_relay_open(&l->out, p.out[0], STDOUT_FILENO, 0);
    ddp_output_relay_open(&l->err, p.err[0], STDERR_FILENO, 1);
    if (ddp_tty_is_one(STDOUT_FILENO, STDERR_FILENO))
        l->err.beside = &l->out;
    if (l->pid < 0 || told > 0)
        return ddp_fail(err, DDP_ERR_IO, "cannot start %s: %s", args[0], strerror(why));
    return DDP_OK;
}

/* Has process pid ended? Other processes that are found to have ended are those it left to us. */
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

/* How long ranks may take to save and end; 0: for ever. */
static int64_t patience_ns(const struct launcher *l)
{
    if (l->config.grace_s > 0)
        return (int64_t)(l->config.grace_s * 1e9);
    return l->config.patient ? 0 : 3 * second_ns;
}

/* Send a signal to the ranks; it is enough that one gets it, which tells the others. Returns 0
 * where none does. */
static int signal_ranks(const struct launcher *l, int number)
{
    if (l->config.keeps_signals)
        return ddp_process_tree_signal(number) > 0;
    return kill(l->pid, number) == 0;
}

/* May it be that the ranks end without having trained? They decide. */
static int is_untrained(const struct launcher *l)
{
    return l->config.trains && !(l->err.notes & DDP_NOTE_COMMITS);
}

static void ask_untrained(struct launcher *l, int number)
{
    if (!l->ended_by)
        l->deadline_ns = ddp_clock_ns() + 2 * second_ns;
    l->ended_by = number;
    l->told_ns = ddp_clock_ns();
    (void)signal_ranks(l, SIGUSR2);
}

static void ask_to_end(struct launcher *l, int number)
{
    int saves;

    if (number == l->asked_by && ddp_signals_is_echo(l->asked_ns))
        return;
    if (is_untrained(l)) {
        ask_untrained(l, number);
        return;
    }
    saves = l->config.trains && !l->asked && signal_ranks(l, SIGUSR2);
    if (saves)
        ddp_signals_say_ending();
    else if (!l->asked && !l->ended_by)
        ddp_signals_say("darknet: ending\n");
    if (!saves)
        (void)kill(l->pid, l->config.end_signal);
    if (saves) {
        l->asked = 1;
        l->asked_by = number;
        l->asked_ns = ddp_clock_ns();
        l->deadline_ns = patience_ns(l) ? ddp_clock_ns() + patience_ns(l) : 0;
    } else if (!l->ended_by) {
        l->deadline_ns = ddp_clock_ns() + 2 * second_ns;
    }
    if (!saves || patience_ns(l))
        l->ended_by = number;
}

/* Take a signal that was kept from the launcher, unless the ranks have been asked already: whoever
 * ends a whole job sends one to each process. */
static void look_at_kept(struct launcher *l)
{
    for (size_t i = 0; keeps_ends(l) && i < ENDS && !l->asked && !l->ended_by; i++)
        if (ddp_process_has_pending(l->pid, ends[i]))
            ask_to_end(l, ends[i]);
}

/* Look at ranks that were asked to end: they may have committed before they heard of it, or may not
 * have heard. */
static void look_at_asked(struct launcher *l)
{
    int number = l->ended_by;

    if (!l->told_ns)
        return;
    if (is_untrained(l)) {
        if (ddp_clock_ns() - l->told_ns >= ASK_MS * (int64_t)1000000)
            ask_untrained(l, number);
        return;
    }
    l->told_ns = 0;
    l->ended_by = 0;
    ask_to_end(l, number);
}

/* Ctrl-Z: stop with all ranks until SIGCONT comes. Time in which nothing runs is nobody's delay. */
static void stop(struct launcher *l)
{
    int64_t began_ns = ddp_clock_ns(), passed_ns;

    ddp_signals_say("darknet: stopped, with all ranks; `fg` goes on\n");
    (void)signal_ranks(l, l->config.keeps_signals ? SIGSTOP : SIGTSTP);
    (void)raise(SIGSTOP);
    (void)signal_ranks(l, SIGCONT);
    passed_ns = ddp_clock_ns() - began_ns;
    l->began_ns += passed_ns;
    l->deadline_ns += l->deadline_ns ? passed_ns : 0;
}

/* Ctrl-\: where are the ranks? Those that do not train mostly have no answer, and end of it. */
static void ask_where(struct launcher *l)
{
    if (ddp_process_tree_ask(SIGQUIT))
        return;
    if (l->config.trains)
        ddp_signals_say("darknet: no rank on this host answers that\n");
    else
        ask_to_end(l, SIGQUIT);
}

static void take_signal(struct launcher *l, int number)
{
    if (number == SIGINT || number == SIGTERM || number == SIGHUP)
        ask_to_end(l, number);
    else if (number == SIGUSR1 || number == SIGUSR2)
        (void)signal_ranks(l, number);
    else if (number == SIGTSTP)
        stop(l);
    else if (number == SIGQUIT)
        ask_where(l);
}

static int wait_ms(const struct launcher *l)
{
    int64_t left = l->deadline_ns - ddp_clock_ns();

    if (l->told_ns && left > ASK_MS * (int64_t)1000000)
        return ASK_MS;
    if (l->deadline_ns == 0 || left > LOOK_MS * (int64_t)1000000)
        return LOOK_MS;
    return left < 0 ? 0 : (int)(left / 1000000) + 1;
}

/* Does a launcher that has started no rank wait for too long? */
static void look_at_start(struct launcher *l)
{
    double waited_s = (double)(ddp_clock_ns() - l->began_ns) / 1e9,
           limit_s = l->config.start_limit_s;
    double say_s = limit_s > 0 && limit_s < 2 * SAY_START_S ? limit_s / 2 : SAY_START_S;

    if (!l->config.say_start || l->err.notes & DDP_NOTE_BEGINS || l->deadline_ns != 0)
        return;
    if (limit_s > 0 && waited_s >= limit_s) {
        l->config.say_start(l->config.ctx, waited_s, 1);
        l->gave_up = 1;
        l->deadline_ns = ddp_clock_ns();
    } else if (waited_s >= say_s && !l->said_start) {
        l->said_start = 1;
        l->config.say_start(l->config.ctx, waited_s, 0);
    }
}

/* Wait for a signal, for output and for the deadline, and do what is to be done. */
static void work(struct launcher *l)
{
    struct signalfd_siginfo signal;
    struct pollfd fds[5];

    ddp_output_relay_wants(&l->out, fds);
    ddp_output_relay_wants(&l->err, fds + 2);
    fds[4] = (struct pollfd){.fd = l->signals, .events = POLLIN};
    (void)poll(fds, 5, wait_ms(l));
    ddp_output_relay_move(&l->out);
    ddp_output_relay_move(&l->err);
    l->trains |= (l->err.notes & DDP_NOTE_TRAINS) != 0;
    if (l->err.notes & DDP_NOTE_FAILS && l->deadline_ns == 0)
        l->deadline_ns = ddp_clock_ns() + FAIL_S * second_ns;
    else if (l->err.notes & (DDP_NOTE_DONE | DDP_NOTE_LACKS) && l->deadline_ns == 0)
        l->deadline_ns = ddp_clock_ns() + END_S * second_ns;
    while (read(l->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        take_signal(l, (int)signal.ssi_signo);
    look_at_asked(l);
    if (ddp_clock_ns() - l->looked_ns < LOOK_MS * (int64_t)1000000)
        return;
    l->looked_ns = ddp_clock_ns();
    look_at_start(l);
    look_at_kept(l);
    ddp_oom_look(&l->memory, l->pid);
}

/* No rank has begun, and mpirun has said why: of a host that it does not reach Open MPI 5 says that
 * it has lost the daemon there. */
static int could_not_start(const struct launcher *l)
{
    return (l->err.no_start || *l->err.lost) && !(l->err.notes & DDP_NOTE_BEGINS);
}

static void say_what_ended(const struct launcher *l)
{
    const ddp_mpirun_frame *found = &l->err.ended;
    int64_t peak = ddp_oom_peak(&l->memory, found->rank);
    int of_memory = found->signal == SIGKILL && ddp_oom_was_short(&l->memory);
    char memory[96] = "";

    if (*l->err.lost && !could_not_start(l))
        (void)fprintf(stderr,
                      "darknet: mpirun has lost its daemon on host %s, and ends the job: that host "
                      "is down, or the network to it, or something there has ended the daemon\n",
                      l->err.lost);
    if (found->rank >= 0 && found->signal == 0 && !l->err.told)
        (void)fprintf(stderr, "darknet: rank %d on %s has ended in the middle of the run\n",
                      found->rank, found->host);
    if (found->rank < 0 || found->signal == 0)
        return;
    if (peak > 0)
        (void)snprintf(memory, sizeof memory, "; it had had %.2f GB of memory", (double)peak / 1e9);
    (void)fprintf(stderr, "darknet: rank %d on %s was ended by signal %d (%s)%s%s\n", found->rank,
                  found->host, found->signal, strsignal(found->signal), memory,
                  of_memory ? ", and the kernel has ended a process here for want of memory: fewer "
                              "images a mini-batch (more subdivisions) need less"
                            : "");
}

/* No rank has said anything of it. */
static void say_why(const struct launcher *l, int status)
{
    (void)fprintf(stderr,
                  "darknet: %s (exit status %d)%s%s; -verbose prints what mpirun says of it\n",
                  could_not_start(l) ? "the ranks could not be started" : "the ranks have ended",
                  status, *l->err.why ? ": " : ", and none has said why", l->err.why);
}

/* Did the ranks train when the launcher ended? Open MPI 5's mpirun then ends with status 0, too,
 * where it has lost a host. */
static int is_broken_off(const struct launcher *l)
{
    return l->trains && !(l->err.notes & (DDP_NOTE_DONE | DDP_NOTE_LACKS)) && !l->asked
           && !l->ended_by;
}

static void finish(struct launcher *l, int how, ddp_exit_info *ended)
{
    int untrained = is_untrained(l) && (l->ended_by || l->err.notes & DDP_NOTE_UNTRAINED);

    if (untrained && l->ended_by)
        ended->status = 128 + l->ended_by;
    ended->failed = ended->status != 0 && !l->asked && !l->ended_by && !untrained;
    ended->begun = (l->err.notes & DDP_NOTE_BEGINS) != 0;
    ended->trained = l->trains;
    ended->saved = (l->err.notes & DDP_NOTE_SAVED) != 0;
    ended->taken = (l->err.notes & DDP_NOTE_TAKEN) != 0;
    ddp_output_relay_finish(&l->out, 0);
    ddp_output_relay_finish(&l->err, ended->failed && l->config.verbose);
    if (untrained)
        ddp_signals_say(ddp_signals_ends_untrained);
    if (ended->failed)
        say_what_ended(l);
    if (ended->failed && !l->gave_up && !l->err.told && (could_not_start(l) || !*l->err.lost)
        && l->err.ended.rank < 0 && !WIFSIGNALED(how) && !(l->err.notes & DDP_NOTE_LACKS))
        say_why(l, ended->status);
    if (ended->failed && WIFSIGNALED(how))
        (void)fprintf(stderr, "darknet: mpirun was ended by signal %d (%s)\n", WTERMSIG(how),
                      strsignal(WTERMSIG(how)));
    if (ended->failed && could_not_start(l))
        ended->status = 1; /* mpirun has numbers of its own */
    ended->advised = l->err.advised;
    (void)close(l->signals);
}

static int status_of_killed(const struct launcher *l)
{
    if (l->err.notes & DDP_NOTE_FAILS)
        return 1;
    if (l->err.notes & (DDP_NOTE_DONE | DDP_NOTE_LACKS))
        return (l->err.notes & DDP_NOTE_LACKS) != 0;
    return l->ended_by ? 128 + l->ended_by : 1;
}

/* Return 1 if the ranks have come to their end as somebody wished, whatever mpirun's exit status: a
 * signal to mpirun gives it one of its own. Ranks that mpirun ends because it has lost the way to a
 * host save and end, too, but nobody wished it. */
static int is_done(const struct launcher *l, int how)
{
    return WIFEXITED(how) && l->err.notes & DDP_NOTE_DONE && !(l->err.notes & DDP_NOTE_FAILS)
           && (l->asked || WEXITSTATUS(how) != DDP_MPIRUN_LOST_WAY);
}

ddp_status ddp_child(const char *const *args, const ddp_child_config *config, ddp_exit_info *ended,
                     ddp_error *err)
{
    static struct launcher l; /* large */
    int how = 0, killed = 0;

    memset(&l, 0, sizeof l);
    *ended = (ddp_exit_info){0};
    l.config = *config;
    l.began_ns = ddp_clock_ns();
    set_starter();
    l.signals = listen_to_signals();
    ddp_oom_open(&l.memory);
    ddp_become_subreaper();
    if (start(&l, args, err))
        return err->code;
    while (!killed && !has_ended(l.pid, &how)) {
        work(&l);
        killed = l.deadline_ns > 0 && ddp_clock_ns() >= l.deadline_ns;
    }
    ddp_process_tree_kill();
    for (int i = 0; i < LAST_READS; i++)
        ddp_output_relay_move(&l.err);
    if (killed)
        ended->status = status_of_killed(&l);
    else if (is_done(&l, how))
        ended->status = 0;
    else
        ended->status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    if (ended->status == 0 && is_broken_off(&l))
        ended->status = 1;
    finish(&l, how, ended);
    return DDP_OK;
}
