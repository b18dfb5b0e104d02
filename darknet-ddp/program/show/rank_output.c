#include "show/rank_output.h"

#include "comm/collectives.h"
#include "launch/kill_launcher.h"
#include "options/options.h"
#include "show/find_terminal.h"
#include "show/guides.h"
#include "show/run_log.h"
#include "show/terminal.h"
#include "watch/blocked_file.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds that ranks other than 0 wait before they print: mpirun takes up to one to end the others
 * when one rank has ended. Seconds in which all must meet after an error of all. */
enum { PATIENCE_S = 2, TOGETHER_S = 5 };

/* Seconds that a rank's last steps may take: writing what it has printed, MPI's end, exit(). In
 * exit(), AddressSanitizer searches for lost memory, which takes long on a busy machine. */
#ifdef __SANITIZE_ADDRESS__
enum { END_S = 600 };
#else
enum { END_S = 10 };
#endif

static struct {
    ddp_launcher launcher;
    ddp_group *group;
    int error_fd; /* the real standard error */
    pthread_mutex_t failing;
    ddp_watch *watch; /* NULL: none */
    atomic_int forgets_advice;
    const char *_Atomic advice; /* how to go on; NULL: nothing is known */
    void (*_Atomic at_end)(void);
} state = {.error_fd = STDERR_FILENO, .failing = PTHREAD_MUTEX_INITIALIZER};

static void close_off(int fd)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null < 0)
        return; /* the output appears where it should not, which is no reason to stop */
    (void)dup2(null, fd);
    (void)close(null);
}

/* Make each line on standard error one write, whatever it is printed in. Open MPI passes on what
 * one read of the pipe gives: in packet mode that is one write, so it is mixed with no other
 * rank's. Not for a pipe of somebody else's, who may read less at a time, and would lose the
 * rest. */
static void write_whole_lines(void)
{
    static char line[PIPE_BUF];
    struct stat at;

    (void)setvbuf(stderr, line, _IOLBF, sizeof line);
    if (fstat(STDERR_FILENO, &at) == 0 && S_ISFIFO(at.st_mode))
        (void)fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_DIRECT);
}

void ddp_rank_output_init(ddp_launcher launcher)
{
    state.launcher = launcher;
    if (getenv(DDP_STARTER_VARIABLE) && getenv("OMPI_COMM_WORLD_RANK"))
        write_whole_lines();
}

void ddp_rank_output_open(ddp_group *group)
{
    state.group = group;
    state.launcher.rank = ddp_group_rank(group);
    state.launcher.ranks = ddp_group_size(group);
    /* mpirun makes the output a pipe: lines must not wait for a full block. */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (state.launcher.rank == 0) {
        ddp_report_notify_launcher(DDP_NOTE_MEET);
        return;
    }
    ddp_rank_output_hide_errors();
    close_off(STDOUT_FILENO);
}

void ddp_rank_output_hide_errors(void)
{
    (void)fflush(NULL);
    if (state.error_fd == STDERR_FILENO) {
        int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

        if (saved < 0)
            return;
        state.error_fd = saved;
    }
    close_off(STDERR_FILENO);
}

FILE *ddp_rank_output_take_output(void)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *out = fd < 0 ? NULL : ddp_terminal_stream(fd);

    if (!out) {
        if (fd >= 0)
            (void)close(fd);
        return stdout;
    }
    (void)fflush(stdout);
    close_off(STDOUT_FILENO);
    return out;
}

void ddp_rank_output_show_errors(void)
{
    if (state.error_fd == STDERR_FILENO)
        return;
    (void)fflush(stderr);
    (void)dup2(state.error_fd, STDERR_FILENO);
}

void ddp_rank_output_close(void)
{
    (void)pthread_mutex_lock(&state.failing);
}

static void print_message(const char *who, const char *message)
{
    char *line;

    if (asprintf(&line, "darknet%s: %s\n", who, message) < 0)
        return;
    (void)dprintf(state.error_fd, "%s", ddp_terminal_erasing(state.launcher));
    ddp_terminal_say(state.error_fd, line);
    free(line);
}

static void print_from_rank(const char *message)
{
    int rank = state.launcher.rank;
    char host[256] = "", who[300];

    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    (void)snprintf(who, sizeof who, "[rank %d @ %s]", rank,
                   state.group ? ddp_group_host(state.group, rank) : host);
    print_message(who, message);
}

void ddp_report_print(const char *text)
{
    if (state.launcher.ranks > 1)
        print_from_rank(text);
    else
        print_message("", text);
}

void ddp_report_notify_launcher(ddp_launcher_note note)
{
    ddp_child_tell(state.error_fd, note);
}

void ddp_report_notify_launcher_of_log(const char *path)
{
    ddp_child_tell_log(state.error_fd, path);
}

static void *end_anyway(void *exit_status)
{
    char file[1024], text[1200];

    (void)sleep(END_S);
    ddp_blocked_file(file, sizeof file);
    (void)snprintf(text, sizeof text, "%s does not answer, and is not waited for any more", file);
    if (file[0])
        ddp_report_print(text);
    if (*(int *)exit_status)
        ddp_report_notify_launcher(DDP_NOTE_FAILS);
    _exit(*(int *)exit_status);
}

void ddp_rank_output_end_soon(int exit_status)
{
    static atomic_int begun;
    static int status;
    pthread_t thread;

    if (atomic_exchange(&begun, 1))
        return;
    status = exit_status;
    if (pthread_create(&thread, NULL, end_anyway, &status) == 0)
        (void)pthread_detach(thread);
}

void ddp_rank_output_done(int exit_status)
{
    if (state.launcher.rank == 0)
        ddp_report_notify_launcher(exit_status ? DDP_NOTE_LACKS : DDP_NOTE_DONE);
    ddp_rank_output_end_soon(exit_status);
}

void ddp_report_set_resume_hint(const char *text)
{
    if (!atomic_load(&state.forgets_advice))
        atomic_store(&state.advice, text);
}

void ddp_report_forget_resume_hint(void)
{
    atomic_store(&state.forgets_advice, 1);
    atomic_store(&state.advice, NULL);
}

void ddp_report_print_resume_hint(void)
{
    const char *text = atomic_load(&state.advice);

    if (text)
        ddp_report_print(text);
}

void ddp_rank_output_at_end(void (*at_end)(void))
{
    atomic_store(&state.at_end, at_end);
}

void ddp_rank_output_moves(void)
{
    ddp_watch_moved(state.watch);
}

void ddp_rank_output_watch(ddp_watch *watch)
{
    state.watch = watch;
}

void ddp_rank_output_end(int exit_status, int alone)
{
    void (*at_end)(void) = atomic_load(&state.at_end);

    ddp_rank_output_end_soon(exit_status);
    ddp_run_log_flush();
    if (at_end)
        at_end();
    ddp_report_notify_launcher(DDP_NOTE_FAILS);
    ddp_kill_launcher_later(alone);
    if (state.group)
        ddp_group_abort(state.group, exit_status);
    _exit(exit_status);
}

/* Print what has gone wrong, and the guide that has more about it, if there is one: by the option
 * that it names, or by the code. */
static void print_failure(ddp_status code, const char *message)
{
    const char *guide = strstr(message, ".data file") ? "data" : ddp_options_guide(message);
    char room[PATH_MAX], *text = NULL;

    if (!guide && code == DDP_ERR_COMM)
        guide = "failures";
    if (!guide && code == DDP_ERR_MISMATCH)
        guide = "hosts";
    if (guide
        && asprintf(&text, "%s\n  more: %s/%s.md", message, ddp_guides_folder(room), guide) < 0)
        text = NULL;
    ddp_report_print(text ? text : message);
    free(text);
}

static void end_with(int exit_status, ddp_status code, const char *message)
    __attribute__((noreturn));

static void end_with(int exit_status, ddp_status code, const char *message)
{
    /* Loader threads fail together. The first one speaks, and never unlocks. */
    (void)pthread_mutex_lock(&state.failing);
    ddp_watch_fail(state.watch);
    ddp_rank_output_end_soon(exit_status);
    (void)fflush(NULL);
    (void)signal(SIGTERM, SIG_DFL); /* mpirun ends the ranks that wait below with it */
    if (state.launcher.rank > 0)
        (void)sleep(PATIENCE_S);
    ddp_terminal_clear();
    print_failure(code, message);
    ddp_report_print_resume_hint();
    ddp_rank_output_end(exit_status, 0);
}

void ddp_rank_output_fatal(int exit_status, const char *message)
{
    end_with(exit_status, DDP_OK, message);
}

/* Print an error of all ranks, wait for all to have done so, not for long, and end. */
static void say_together(const char *message)
{
    ddp_error ignored;

    (void)pthread_mutex_lock(&state.failing);
    ddp_watch_fail(state.watch);
    (void)fflush(NULL);
    ddp_terminal_clear();
    print_failure(DDP_ERR_MISMATCH, message);
    ddp_group_set_timeout(state.group, TOGETHER_S * (int64_t)1000000000);
    if (ddp_barrier(state.group, &ignored) == DDP_OK && state.launcher.rank > 0)
        (void)sleep(PATIENCE_S); /* one rank's end is enough */
    ddp_report_print_resume_hint();
    ddp_rank_output_end(1, 0);
}

void ddp_rank_output_failure(const ddp_error *err)
{
    int status = err->code == DDP_ERR_USAGE ? 2 : 1;

    if (err->code == DDP_ERR_MISMATCH && state.group)
        say_together(err->text);

    end_with(status, err->code, err->text);
}
