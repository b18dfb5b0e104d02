#include "launch/output_relay.h"

#include "base/clock.h"
#include "base/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char ddp_resume_hint[] = " goes on from ";

/* The lines that frame what mpirun explains. */
enum { RULE_DASHES = 70 };

/* Frames of mpirun's (Open MPI) that only say that ranks have ended, or cannot be started. */
static const char *const endings[] = {"MPI_ABORT was invoked on rank",
                                      "Primary job  terminated normally, but",
                                      "detected that one or more processes exited with non-zero",
                                      "has exited due to process rank",
                                      "noticed that process rank",
                                      "lost communication with a remote daemon"};

static const char *const no_starts[] = {
    "was unable to reliably start one or more daemons", "daemon has unexpectedly failed",
    "not enough slots available", "was unable to launch the specified application",
    "was unable to find the specified executable"};

/* Lines of mpirun's that mean nothing to a user who did not start mpirun. */
static const char *const asides[] = {
    " more process has sent help message", " more processes have sent help message",
    "Set MCA parameter \"orte_base_help_aggregate\"", ": Forwarding signal "};

static void add_out(ddp_output_relay *r, const char *text, size_t bytes)
{
    if (r->unread || bytes > sizeof r->out - r->out_bytes)
        return;
    memcpy(r->out + r->out_bytes, text, bytes);
    r->out_bytes += bytes;
}

/* ---- what mpirun explains ---- */

static int has(const char *text, size_t bytes, const char *word)
{
    return memmem(text, bytes, word, strlen(word)) != NULL;
}

static int has_any(const char *text, size_t bytes, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has(text, bytes, words[i]))
            return 1;
    return 0;
}

static int is_rule(const char *line, size_t bytes)
{
    size_t dashes = 0;

    while (dashes < bytes && line[dashes] == '-')
        dashes++;
    return dashes >= RULE_DASHES && dashes + 1 >= bytes;
}

/* "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed)." */
static void find_killed(ddp_output_relay *r, const char *frame)
{
    const char *at = strstr(frame, "noticed that process rank ");
    const char *node = at ? strstr(at, " on node ") : NULL;
    const char *signal = node ? strstr(node, "exited on signal ") : NULL;

    if (!signal || r->found.rank >= 0)
        return;
    r->found.rank = (int)strtol(at + strlen("noticed that process rank "), NULL, 10);
    r->found.signal = (int)strtol(signal + strlen("exited on signal "), NULL, 10);
    (void)snprintf(r->found.host, sizeof r->found.host, "%.*s",
                   (int)strcspn(node + strlen(" on node "), " \n"), node + strlen(" on node "));
}

/* "Remote daemon: [[26566,0],1] on node b" */
static void find_lost(ddp_output_relay *r, const char *frame)
{
    const char *at = strstr(frame, "Remote daemon: "), *node = at ? strstr(at, " on node ") : NULL;

    if (node && !*r->lost)
        (void)snprintf(r->lost, sizeof r->lost, "%.*s",
                       (int)strcspn(node + strlen(" on node "), " \n"), node + strlen(" on node "));
}

/* Darknet says what it does on standard error, too, and Open MPI's event loop warns there of
 * descriptors that are closed; ssh ends its lines with a carriage return. */
static void keep_why(ddp_output_relay *r, const char *text, size_t bytes)
{
    static const char *const no_reasons[] = {"Saving weights to ", "Loading weights from ",
                                             "Made the backup directory ", "[warn] "};

    for (size_t i = 0; i < sizeof no_reasons / sizeof no_reasons[0]; i++)
        if (bytes >= strlen(no_reasons[i])
            && memcmp(text, no_reasons[i], strlen(no_reasons[i])) == 0)
            return;
    while (bytes > 0 && text[bytes - 1] == '\r')
        bytes--;
    (void)snprintf(r->why, sizeof r->why, "%.*s", (int)bytes, text);
}

/* The first sentence of a frame, which may go on in further lines. */
static void keep_first_sentence(ddp_output_relay *r)
{
    const char *first = strchr(r->frame, '\n'), *end;

    if (!first || *r->why)
        return;
    first++;
    end = strpbrk(first, ".:");
    keep_why(r, first, end ? (size_t)(end - first) : strcspn(first, "\n"));
    for (char *c = r->why; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

static void end_frame(ddp_output_relay *r)
{
    size_t room = sizeof r->withheld - r->withheld_bytes;
    int no_start;

    r->frame[r->frame_bytes] = '\0';
    no_start = has_any(r->frame, r->frame_bytes, no_starts, sizeof no_starts / sizeof *no_starts);
    r->no_start |= no_start;
    if (!no_start
        && !has_any(r->frame, r->frame_bytes, endings, sizeof endings / sizeof *endings)) {
        add_out(r, r->frame, r->frame_bytes);
    } else {
        find_killed(r, r->frame);
        find_lost(r, r->frame);
        keep_first_sentence(r);
        if (r->frame_bytes <= room) {
            memcpy(r->withheld + r->withheld_bytes, r->frame, r->frame_bytes);
            r->withheld_bytes += r->frame_bytes;
        }
    }
    r->frame_bytes = 0;
    r->framed = 0;
}

static void add_to_frame(ddp_output_relay *r, const char *line, size_t bytes)
{
    int ends = r->framed && is_rule(line, bytes);

    if (bytes >= sizeof r->frame - r->frame_bytes) { /* no frame of mpirun's is so long */
        add_out(r, r->frame, r->frame_bytes);
        add_out(r, line, bytes);
        r->frame_bytes = 0;
        r->framed = 0;
        return;
    }
    memcpy(r->frame + r->frame_bytes, line, bytes);
    r->frame_bytes += bytes;
    r->framed = 1;
    if (ends)
        end_frame(r);
}

/* text: behind DDP_NOTE_LINE, up to its newline. */
static void take_note(ddp_output_relay *r, const char *text, size_t bytes)
{
    static const char log[] = DDP_NOTE_LOG;

    if (bytes > sizeof log && memcmp(text, log, sizeof log - 1) == 0)
        (void)snprintf(r->log, sizeof r->log, "%.*s", (int)(bytes - sizeof log),
                       text + sizeof log - 1);
    else
        r->notes |= (int)strtol(text, NULL, 10);
}

static void take_line(ddp_output_relay *r, const char *line, size_t bytes)
{
    static const char note[] = DDP_NOTE_LINE;

    if (!r->passing && bytes > sizeof note && memcmp(line, note, sizeof note - 1) == 0) {
        take_note(r, line + sizeof note - 1, bytes - (sizeof note - 1));
        return;
    }
    if (!r->passing && bytes > 7 && memcmp(line, "darknet", 7) == 0) {
        r->told = 1;
        r->advised |= has(line, bytes, ddp_resume_hint);
    } else if (!r->passing && (r->framed || is_rule(line, bytes))) {
        add_to_frame(r, line, bytes);
        return;
    } else if (has_any(line, bytes, asides, sizeof asides / sizeof *asides)) {
        return;
    } else if (!r->passing) {
        keep_why(r, line, bytes - 1);
    }
    add_out(r, line, bytes);
}

static void filter(ddp_output_relay *r, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        r->line[r->line_bytes++] = text[i];
        if (text[i] != '\n' && r->line_bytes < sizeof r->line)
            continue;
        take_line(r, r->line, r->line_bytes);
        r->passing = text[i] != '\n';
        r->line_bytes = 0;
    }
}

/* Pass on the beginning of a line at once where it cannot be one that is kept back. */
static void pass_part(ddp_output_relay *r)
{
    if (r->line_bytes == 0 || r->framed || strchr("-[dm\036", r->line[0]))
        return;
    add_out(r, r->line, r->line_bytes);
    r->line_bytes = 0;
    r->passing = 1;
}

/* ---- moving ---- */

void ddp_output_relay_open(ddp_output_relay *r, int from, int to, int filters)
{
    memset(r, 0, sizeof *r);
    r->from = from;
    r->to = to;
    r->filters = filters;
    r->found.rank = -1;
    (void)fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
}

static int has_room(const ddp_output_relay *r)
{
    return r->unread || r->out_bytes <= DDP_RELAY_BYTES;
}

void ddp_output_relay_wants(const ddp_output_relay *r, struct pollfd *fds)
{
    fds[0] = (struct pollfd){.fd = has_room(r) ? r->from : -1, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = r->out_bytes > 0 ? r->to : -1, .events = POLLOUT};
}

static int read_some(ddp_output_relay *r)
{
    char text[4096];
    ssize_t n = r->from < 0 || !has_room(r) ? 0 : read(r->from, text, sizeof text);

    if (n == 0 && r->from >= 0 && has_room(r)) {
        (void)close(r->from);
        r->from = -1;
    }
    if (n <= 0)
        return 0;
    if (r->filters) {
        filter(r, text, (size_t)n);
        pass_part(r);
    } else {
        add_out(r, text, (size_t)n);
    }
    return 1;
}

static void erase_line(ddp_output_relay *r)
{
    if (r->stands && write(r->to, DDP_TTY_ERASE, sizeof DDP_TTY_ERASE - 1) > 0)
        r->stands = 0;
}

/* A descriptor that others use, too, must stay blocking: a pipe that poll calls writable takes
 * PIPE_BUF bytes at once. */
static int write_some(ddp_output_relay *r)
{
    struct pollfd out = {.fd = r->to, .events = POLLOUT};
    size_t bytes = r->out_bytes < PIPE_BUF ? r->out_bytes : PIPE_BUF;
    ssize_t n;

    if (bytes == 0 || poll(&out, 1, 0) <= 0)
        return 0;
    if (r->beside)
        erase_line(r->beside);
    n = write(r->to, r->out, bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0 && errno != ENOSPC && errno != EDQUOT) {
        r->unread = 1; /* for good */
        r->out_bytes = 0;
        return 0;
    }
    if (n < 0)
        n = (ssize_t)bytes; /* a disk may have room again */
    r->stands = n > 0 && r->out[n - 1] == '\r';
    r->out_bytes -= (size_t)n;
    memmove(r->out, r->out + n, r->out_bytes);
    return 1;
}

void ddp_output_relay_move(ddp_output_relay *r)
{
    (void)read_some(r);
    while (write_some(r))
        ;
}

static void write_log(const ddp_output_relay *r)
{
    int fd = open(r->log, O_WRONLY | O_APPEND | O_CLOEXEC);

    if (fd >= 0 && write(fd, r->withheld, r->withheld_bytes) < 0)
        (void)dprintf(STDERR_FILENO, "darknet: cannot write %s: %s\n", r->log, strerror(errno));
}

/* In a process of its own, which is waited for no longer than a second: its disk may not answer. */
static void add_to_log(const ddp_output_relay *r)
{
    const int64_t until = ddp_clock_ns() + 1000000000;
    pid_t writer;

    if (!*r->log || r->withheld_bytes == 0)
        return;
    writer = fork();
    if (writer == 0) {
        write_log(r);
        _exit(0);
    }
    while (writer > 0 && waitpid(writer, NULL, WNOHANG) == 0 && ddp_clock_ns() < until)
        (void)usleep(1000);
}

void ddp_output_relay_finish(ddp_output_relay *r, int all)
{
    const int64_t until = ddp_clock_ns() + 1000000000;

    while (read_some(r) && ddp_clock_ns() < until)
        while (write_some(r))
            ;
    if (r->line_bytes > 0)
        take_line(r, r->line, r->line_bytes);
    add_out(r, r->frame, r->frame_bytes);
    if (all)
        add_out(r, r->withheld, r->withheld_bytes);
    add_to_log(r);
    r->line_bytes = r->frame_bytes = r->withheld_bytes = 0;
    while (r->out_bytes > 0 && ddp_clock_ns() < until) {
        struct pollfd out = {.fd = r->to, .events = POLLOUT};

        (void)poll(&out, 1, 100);
        (void)write_some(r);
    }
    if (ddp_tty_erases(r->to))
        erase_line(r);
    if (r->from >= 0)
        (void)close(r->from);
    r->from = -1;
}
