#include "launch/output_relay.h"

#include "base/clock.h"
#include "base/tty.h"
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char ddp_resume_hint[] = " goes on from ";

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

static void end_frame(ddp_output_relay *r)
{
    size_t room = sizeof r->withheld - r->withheld_bytes;
    ddp_mpirun_frame frame;

    r->frame[r->frame_bytes] = '\0';
    ddp_mpirun_read_frame(&frame, r->frame);
    r->no_start |= frame.is_no_start;
    if (frame.is_end) {
        if (r->ended.rank < 0)
            r->ended = frame;
        if (!*r->lost)
            memcpy(r->lost, frame.lost, sizeof r->lost);
        if (!*r->why)
            keep_why(r, frame.sentence, strlen(frame.sentence));
        if (r->frame_bytes <= room) {
            memcpy(r->withheld + r->withheld_bytes, r->frame, r->frame_bytes);
            r->withheld_bytes += r->frame_bytes;
        }
    } else {
        add_out(r, r->frame, r->frame_bytes);
    }
    r->frame_bytes = 0;
    r->in_frame = 0;
}

static void add_to_frame(ddp_output_relay *r, const char *line, size_t bytes)
{
    int ends = r->in_frame && ddp_mpirun_is_rule(line, bytes);

    if (bytes >= sizeof r->frame - r->frame_bytes) { /* no frame of mpirun's is so long */
        add_out(r, r->frame, r->frame_bytes);
        add_out(r, line, bytes);
        r->frame_bytes = 0;
        r->in_frame = 0;
        return;
    }
    memcpy(r->frame + r->frame_bytes, line, bytes);
    r->frame_bytes += bytes;
    r->in_frame = 1;
    if (ends)
        end_frame(r);
}

/* text: behind DDP_NOTE_LINE, up to its newline. */
static void take_note(ddp_output_relay *r, const char *text, size_t bytes)
{
    static const char log[] = DDP_NOTE_LOG;
    int note = (int)strtol(text, NULL, 10);

    if (bytes > sizeof log && memcmp(text, log, sizeof log - 1) == 0)
        (void)snprintf(r->log, sizeof r->log, "%.*s", (int)(bytes - sizeof log),
                       text + sizeof log - 1);
    else
        r->notes |= note;
    r->begun += note == DDP_NOTE_BEGINS;
}

static void take_line(ddp_output_relay *r, const char *line, size_t bytes)
{
    static const char note[] = DDP_NOTE_LINE;

    if (!r->in_line && bytes > sizeof note && memcmp(line, note, sizeof note - 1) == 0) {
        take_note(r, line + sizeof note - 1, bytes - (sizeof note - 1));
        return;
    }
    if (!r->in_line && bytes > 7 && memcmp(line, "darknet", 7) == 0) {
        r->told = 1;
        r->advised |= has(line, bytes, ddp_resume_hint);
    } else if (!r->in_line && (r->in_frame || ddp_mpirun_is_rule(line, bytes))) {
        add_to_frame(r, line, bytes);
        return;
    } else if (ddp_mpirun_is_aside(line, bytes)) {
        return;
    } else if (!r->in_line) {
        keep_why(r, line, bytes - 1);
    }
    add_out(r, line, bytes);
}

static void filter(ddp_output_relay *r, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\0') /* Open MPI 5 writes one behind each frame */
            continue;
        r->line[r->line_bytes++] = text[i];
        if (text[i] != '\n' && r->line_bytes < sizeof r->line)
            continue;
        take_line(r, r->line, r->line_bytes);
        r->in_line = text[i] != '\n';
        r->line_bytes = 0;
    }
}

/* Pass on the beginning of a line at once where it cannot be one that is kept back. */
static void pass_part(ddp_output_relay *r)
{
    if (r->line_bytes == 0 || r->in_frame || strchr("-[dm\036", r->line[0]))
        return;
    add_out(r, r->line, r->line_bytes);
    r->line_bytes = 0;
    r->in_line = 1;
}

/* ---- moving ---- */

void ddp_output_relay_open(ddp_output_relay *r, int from, int to, int filters)
{
    memset(r, 0, sizeof *r);
    r->from = from;
    r->to = to;
    r->filters = filters;
    r->ended.rank = -1;
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
    if (r->on_progress && write(r->to, DDP_TTY_ERASE, sizeof DDP_TTY_ERASE - 1) > 0)
        r->on_progress = 0;
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
    r->on_progress = n > 0 && r->out[n - 1] == '\r';
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
