#include "launch/child.h"

#include "base/clock.h"
#include "base/tty.h"
#include "launch/child_start.h"
#include "launch/mpirun.h"
#include "launch/oom.h"
#include "launch/output_relay.h"
#include "launch/process_tree.h"
#include "launch/signals.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* LOOK_MS: how often the ranks' memory is looked at. ASK_MS: how often ranks that have not
 * committed are asked to end. */
enum { LOOK_MS = 1000, ASK_MS = 100, LAST_READS = 16 };

static const int64_t second_ns = 1000000000, ms_ns = 1000000;

/* The states of a job's ranks. */
enum state {
    STAYS,       /* in the table: the event changes nothing */
    RUNNING,     /* nobody has asked them to end */
    WITHDRAWING, /* they were asked before they had committed, and agree whether all have heard */
    SAVING,      /* they were asked, and end the step, save and end */
    ENDING,      /* the launcher was told to end them */
    FAILED,      /* a rank has said that it ends the job */
    DONE,        /* rank 0 has said that all is done */
    GIVEN_UP,    /* the start does not come to its end (launch/start_watch.h) */
    STATES
};

/* Each event that may change the state. The first three are a signal to end. */
enum event {
    ASKED_EARLY, /* ranks that are to train have not committed */
    ASKED,       /* they have */
    ASKED_OTHER, /* they are not to train */
    COMMITTED,   /* a note of the ranks, as the next two */
    HAS_FAILED,
    ALL_DONE,
    TOO_LATE, /* the start does not come to its end */
    EVENTS
};

/* Values of limit_s. */
enum { NEVER = -1, SAVE_S = -2 };

/* For each state: after how many seconds what is left is killed, and the state after each event. */
static const struct {
    int limit_s;
    enum state next[EVENTS];
} states[STATES] = {
    [RUNNING] = {NEVER, {WITHDRAWING, SAVING, ENDING, STAYS, FAILED, DONE, GIVEN_UP}},
    [WITHDRAWING] = {2, {WITHDRAWING, SAVING, ENDING, SAVING}},
    [SAVING] = {SAVE_S, {STAYS, ENDING, ENDING, STAYS, FAILED, DONE}},
    [ENDING] = {2, {ENDING, ENDING, ENDING}},
    [FAILED] = {5, {ENDING, ENDING, ENDING}},
    [DONE] = {15, {ENDING, ENDING, ENDING}},
    [GIVEN_UP] = {0, {STAYS}},
};

struct launcher {
    ddp_child_config config;
    ddp_child_process process;
    int signals; /* a descriptor that gives them */
    ddp_output_relay out, err;
    ddp_oom memory;
    enum state state;
    int asked_by;        /* the last signal to end; 0: none has come */
    int64_t asked_ns;    /* when it came */
    int64_t told_ns;     /* WITHDRAWING: when ranks were last asked */
    int64_t deadline_ns; /* what is left then is killed; 0: never */
    int64_t looked_ns;
    ddp_start_watch start;
};

/* ---- the states ---- */

static int has_note(const struct launcher *l, int notes)
{
    return (l->err.notes & notes) != 0;
}

/* May it be that the ranks end without having trained? They decide. */
static int is_untrained(const struct launcher *l)
{
    return l->config.trains && !has_note(l, DDP_NOTE_COMMITS);
}

/* Send a signal to the ranks; it is enough that one gets it, which tells the others. Returns 0
 * where none does. */
static int signal_ranks(const struct launcher *l, int number)
{
    if (l->config.forwards_signals)
        return kill(l->process.pid, number) == 0;
    return ddp_process_tree_signal(number) > 0;
}

/* Return how long ranks may stay in a state; less than 0: for good. */
static int64_t limit_ns(const struct launcher *l, enum state state)
{
    if (states[state].limit_s == SAVE_S)
        return (int64_t)(l->config.save_s * 1e9);
    return states[state].limit_s * second_ns;
}

/* Set the deadline of a new state: none is put off, but that of ranks which have committed. */
static void set_deadline(struct launcher *l, enum state from, enum state to)
{
    int64_t limit = limit_ns(l, to), deadline_ns = limit < 0 ? 0 : ddp_clock_ns() + limit;

    if (l->deadline_ns == 0 || (from == WITHDRAWING && to == SAVING)
        || (deadline_ns > 0 && deadline_ns < l->deadline_ns))
        l->deadline_ns = deadline_ns;
}

static void enter(struct launcher *l, enum state to)
{
    enum state from = l->state;

    if (to == SAVING && !signal_ranks(l, SIGUSR2))
        to = ENDING;
    set_deadline(l, from, to);
    l->state = to;
    if (to == WITHDRAWING) {
        l->told_ns = ddp_clock_ns();
        (void)signal_ranks(l, SIGUSR2);
    } else if (to == SAVING) {
        ddp_signals_say_ending();
    } else if (to == ENDING) {
        if (from != SAVING && from != ENDING)
            ddp_signals_say("darknet: ending\n");
        (void)kill(l->process.pid, l->config.end_signal);
    }
}

static void happen(struct launcher *l, enum event event)
{
    enum state next = states[l->state].next[event];

    if (next != STAYS)
        enter(l, next);
}

/* Take the notes of ranks that have come, and ask those again that may not have heard. */
static void take_notes(struct launcher *l)
{
    if (has_note(l, DDP_NOTE_COMMITS))
        happen(l, COMMITTED);
    if (has_note(l, DDP_NOTE_FAILS))
        happen(l, HAS_FAILED);
    else if (has_note(l, DDP_NOTE_DONE | DDP_NOTE_LACKS))
        happen(l, ALL_DONE);
    if (l->state == WITHDRAWING && ddp_clock_ns() - l->told_ns >= ASK_MS * ms_ns)
        enter(l, WITHDRAWING);
}

/* ---- signals to this process ---- */

static void ask_to_end(struct launcher *l, int number)
{
    if (number == l->asked_by && ddp_signals_is_echo(l->asked_ns))
        return;
    l->asked_by = number;
    l->asked_ns = ddp_clock_ns();
    happen(l, !l->config.trains ? ASKED_OTHER : is_untrained(l) ? ASKED_EARLY : ASKED);
}

/* Take a signal that was kept from the launcher, unless the ranks have been asked already: whoever
 * ends a whole job sends one to each process. */
static void look_at_kept(struct launcher *l)
{
    if (l->config.end_signal == SIGTERM || l->asked_by)
        return;
    if (ddp_process_has_pending(l->process.pid, SIGTERM))
        ask_to_end(l, SIGTERM);
    else if (ddp_process_has_pending(l->process.pid, SIGINT))
        ask_to_end(l, SIGINT);
}

/* Ctrl-Z: stop with all ranks until SIGCONT comes. Time in which nothing runs is nobody's delay. */
static void stop(struct launcher *l)
{
    int64_t began_ns = ddp_clock_ns(), passed_ns;

    ddp_signals_say("darknet: stopped, with all ranks; `fg` goes on\n");
    (void)signal_ranks(l, l->config.forwards_signals ? SIGTSTP : SIGSTOP);
    (void)raise(SIGSTOP);
    (void)signal_ranks(l, SIGCONT);
    passed_ns = ddp_clock_ns() - began_ns;
    l->start.began_ns += passed_ns;
    l->start.ran_ns += l->start.ran_ns ? passed_ns : 0;
    l->deadline_ns += l->deadline_ns ? passed_ns : 0;
}

/* Ctrl-\: where are the ranks? Those that do not train mostly have no answer, and end of it. */
static void ask_where(struct launcher *l)
{
    if (ddp_process_tree_signal_one(SIGQUIT))
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

/* ---- the loop ---- */

static int wait_ms(const struct launcher *l)
{
    int64_t most = l->state == WITHDRAWING ? ASK_MS : LOOK_MS,
            left = l->deadline_ns - ddp_clock_ns();

    if (l->deadline_ns == 0 || left > most * ms_ns)
        return (int)most;
    return left < 0 ? 0 : (int)(left / ms_ns) + 1;
}

/* Is there something to say of a start, or an end to make? */
static void look_at_start(struct launcher *l)
{
    ddp_start_verdict verdict;

    if (!l->config.say_start || has_note(l, DDP_NOTE_MEET) || l->state != RUNNING)
        return;
    verdict = ddp_start_watch_look(&l->start, l->err.begun);
    if (verdict != DDP_LAUNCH_GOES_ON)
        l->config.say_start(l->config.ctx, verdict, &l->start);
    if (verdict > DDP_LAUNCH_IS_SLOW)
        happen(l, TOO_LATE);
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
    take_notes(l);
    while (read(l->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        take_signal(l, (int)signal.ssi_signo);
    if (ddp_clock_ns() - l->looked_ns < LOOK_MS * ms_ns)
        return;
    l->looked_ns = ddp_clock_ns();
    look_at_start(l);
    look_at_kept(l);
    ddp_oom_look(&l->memory, l->process.pid);
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

/* ---- the end ---- */

/* No rank has begun, and mpirun has said why: of a host that it does not reach Open MPI 5 says that
 * it has lost the daemon there. */
static int could_not_start(const struct launcher *l)
{
    return (l->err.no_start || *l->err.lost) && !(l->err.notes & DDP_NOTE_BEGINS);
}

/* Return 1 if a rank, or this program, has said why the job ends. Ranks that train may have said
 * other things before, such as that nothing moved for a while. */
static int has_told_why(const struct launcher *l)
{
    return has_note(l, DDP_NOTE_TRAINS) ? has_note(l, DDP_NOTE_FAILS) : l->err.told;
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
    if (found->rank >= 0 && found->signal == 0 && !has_told_why(l))
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

/* Return 1 if the ranks have come to their end as somebody wished, whatever mpirun's exit status: a
 * signal to mpirun gives it one of its own. Ranks that mpirun ends because it has lost the way to a
 * host save and end, too, but nobody wished it. */
static int is_done(const struct launcher *l, int how)
{
    return WIFEXITED(how) && has_note(l, DDP_NOTE_DONE) && !has_note(l, DDP_NOTE_FAILS)
           && (l->asked_by || WEXITSTATUS(how) != DDP_MPIRUN_LOST_WAY);
}

/* Return the exit status of ranks of which the last was killed here. */
static int status_of_killed(const struct launcher *l)
{
    if (has_note(l, DDP_NOTE_FAILS))
        return 1;
    if (has_note(l, DDP_NOTE_DONE | DDP_NOTE_LACKS))
        return has_note(l, DDP_NOTE_LACKS);
    return l->asked_by ? 128 + l->asked_by : 1;
}

/* Return the exit status of ranks whose launcher has ended. Open MPI 5's mpirun ends with status 0
 * where it has lost a host, too: ranks that trained and were not done are a failure. */
static int status_of_ended(const struct launcher *l, int how)
{
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    int breaks_off = has_note(l, DDP_NOTE_TRAINS) && !has_note(l, DDP_NOTE_DONE | DDP_NOTE_LACKS)
                     && !l->asked_by;

    if (is_done(l, how))
        return 0;
    return status == 0 && breaks_off ? 1 : status;
}

static void say_failure(const struct launcher *l, int how, int status)
{
    say_what_ended(l);
    if (WIFSIGNALED(how))
        (void)fprintf(stderr, "darknet: mpirun was ended by signal %d (%s)\n", WTERMSIG(how),
                      strsignal(WTERMSIG(how)));
    else if (l->state != GIVEN_UP && !has_told_why(l) && (could_not_start(l) || !*l->err.lost)
             && l->err.ended.rank < 0 && !has_note(l, DDP_NOTE_LACKS))
        say_why(l, status);
}

static void finish(struct launcher *l, int how, int status, ddp_exit_info *ended)
{
    int untrained = is_untrained(l) && (l->asked_by || has_note(l, DDP_NOTE_UNTRAINED));

    if (untrained && l->asked_by)
        status = 128 + l->asked_by;
    *ended = (ddp_exit_info){.status = status,
                             .begun = has_note(l, DDP_NOTE_BEGINS),
                             .failed = status != 0 && !l->asked_by && !untrained,
                             .trained = has_note(l, DDP_NOTE_TRAINS),
                             .saved = has_note(l, DDP_NOTE_SAVED),
                             .taken = has_note(l, DDP_NOTE_TAKEN)};
    ddp_output_relay_finish(&l->out, 0);
    ddp_output_relay_finish(&l->err, ended->failed && (l->config.verbose || l->state == GIVEN_UP));
    if (untrained)
        ddp_signals_say(ddp_signals_ends_untrained);
    if (ended->failed)
        say_failure(l, how, status);
    if (ended->failed && (could_not_start(l) || *l->err.lost))
        ended->status = 1; /* mpirun has numbers of its own, 205 for a lost host */
    ended->advised = l->err.advised;
    (void)close(l->signals);
}

ddp_status ddp_child(const char *const *args, const ddp_child_config *config, ddp_exit_info *ended,
                     ddp_error *err)
{
    static struct launcher l; /* large */
    int how = 0, killed = 0;

    memset(&l, 0, sizeof l);
    *ended = (ddp_exit_info){0};
    l.config = *config;
    l.state = RUNNING;
    l.start = (ddp_start_watch){.limit_s = config->start_limit_s,
                                .ranks_here = config->ranks_here,
                                .began_ns = ddp_clock_ns()};
    l.signals = ddp_child_listen();
    ddp_oom_open(&l.memory);
    ddp_become_subreaper();
    if (ddp_child_start(&l.process, args, config->end_signal, err))
        return err->code;
    ddp_output_relay_open(&l.out, l.process.out, STDOUT_FILENO, 0);
    ddp_output_relay_open(&l.err, l.process.err, STDERR_FILENO, 1);
    if (ddp_tty_is_one(STDOUT_FILENO, STDERR_FILENO))
        l.err.beside = &l.out;
    while (!killed && !has_ended(l.process.pid, &how)) {
        work(&l);
        killed = l.deadline_ns > 0 && ddp_clock_ns() >= l.deadline_ns;
    }
    ddp_process_tree_kill();
    for (int i = 0; i < LAST_READS; i++)
        ddp_output_relay_move(&l.err);
    finish(&l, how, killed ? status_of_killed(&l) : status_of_ended(&l, how), ended);
    return DDP_OK;
}
