#include "show/terminal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/tty.h"
#include "launch/child.h"
#include "launch/mpirun.h"
#include "launch/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { REMEMBERED = 1 << 20, LINE = 4096, BLOCK = 4096, BEGUN = 4 };

static const int64_t redraw_ns = 100000000, flush_ns = 1000000000;

static struct {
    pthread_mutex_t lock;
    int open;
    int terminal; /* descriptor to ask for its width; -1: none */
    int colours;
    int joined;  /* standard error goes to the same terminal: it is written as standard output, so
                    that the order is kept */
    int partial; /* 1: the last line that was printed has not ended */
    int ended;   /* 1: no line is shown any more */
    int shown;   /* 1: the line is on the screen */
    int64_t shown_ns;
    char line[LINE]; /* as it is drawn */
    int log;         /* -1: none yet, or never */
    int remembers;   /* 1: output is kept for a log that may come */
    int log_failed;
    const char *log_path;
    int writing;   /* 1: a thread writes the log */
    char *waiting; /* output for the log */
    size_t bytes, room;
    int64_t flushed_ns;
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER, .terminal = -1, .log = -1};

static void lock(void)
{
    (void)pthread_mutex_lock(&screen.lock);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&screen.lock);
}

static volatile sig_atomic_t output_error; /* an errno; 0: none */

int ddp_terminal_output_error(void)
{
    return output_error;
}

/* Write text. What cannot be written is dropped: the reader has gone, or the run ends. */
static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, text, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n < 0 && errno != EPIPE && fd == STDOUT_FILENO)
                output_error = errno;
            return 0;
        }
        text += n;
        bytes -= (size_t)n;
    }
    return 1;
}

static void put(int fd, const char *text)
{
    (void)write_all(fd, text, strlen(text));
}

/* ---- the log ---- */

static void log_failed(void)
{
    char text[LINE];

    if (!screen.log_failed) {
        (void)snprintf(text, sizeof text, "darknet: cannot write %s: %s; training goes on\n",
                       screen.log_path, strerror(errno));
        put(STDERR_FILENO, text);
    }
    screen.log_failed = 1;
}

static int is_due(int now)
{
    if (screen.log < 0 || screen.bytes == 0 || screen.writing)
        return 0;
    return now || screen.bytes >= REMEMBERED / 2 || ddp_clock_ns() - screen.flushed_ns >= flush_ns;
}

/* Unlock, then write what waits without the lock. On a disk that does not answer this thread stands
 * still, and others can say so. */
static void unlock_and_flush(int now)
{
    char *text = screen.waiting;
    size_t bytes = screen.bytes;
    int due = is_due(now), done;

    if (due) {
        screen.waiting = NULL;
        screen.bytes = screen.room = 0;
        screen.writing = 1;
    }
    unlock();
    if (!due)
        return;
    done = write_all(screen.log, text, bytes);
    free(text);
    lock();
    if (!done)
        log_failed();
    screen.writing = 0;
    screen.flushed_ns = ddp_clock_ns();
    unlock();
}

static void add_to_log(const char *text, size_t bytes)
{
    if ((screen.log < 0 && !screen.remembers) || screen.bytes + bytes > REMEMBERED)
        return;
    if (screen.bytes + bytes > screen.room) {
        size_t room = 2 * (screen.bytes + bytes);
        char *grown = realloc(screen.waiting, room);

        if (!grown)
            return;
        screen.waiting = grown;
        screen.room = room;
    }
    memcpy(screen.waiting + screen.bytes, text, bytes);
    screen.bytes += bytes;
}

/* Write the log's head, before what waits. */
static void put_head(const char *head)
{
    size_t bytes = strlen(head);
    char *out = malloc(DDP_PRINTABLE_ROOM * bytes + 1);

    if (!out || !write_all(screen.log, out, ddp_printable(out, head, bytes, NULL)))
        log_failed();
    free(out);
}

void ddp_terminal_log(const char *path, int append, const char *head)
{
    char old[LINE];

    lock();
    screen.remembers = 0;
    if (!path)
        screen.bytes = 0;
    if (path && screen.open) {
        screen.log_path = path;
        (void)snprintf(old, sizeof old, "%s.old", path);
        if (!append && rename(path, old) && errno != ENOENT)
            log_failed();
        screen.log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (screen.log < 0)
            log_failed();
        else
            put_head(head);
    }
    unlock_and_flush(1);
}

void ddp_terminal_bring_back_log(void)
{
    lock();
    if (screen.log >= 0 && !screen.writing)
        ddp_file_bring_back(screen.log_path, screen.log);
    unlock();
}

void ddp_terminal_flush(void)
{
    int left;

    do {
        lock();
        left = screen.log >= 0 && (screen.writing || screen.bytes > 0);
        unlock_and_flush(1);
        if (left)
            (void)usleep(1000);
    } while (left);
}

/* ---- the line that renews itself ---- */

static void end_partial(int fd)
{
    if (screen.partial)
        put(fd, "\n");
    screen.partial = 0;
}

/* Draw the line. The cursor goes back to its beginning, so that whatever others print stands over
 * it. It may not have been there: terminals answer Ctrl-C with ^C. */
static void draw(void)
{
    end_partial(STDOUT_FILENO);
    put(STDOUT_FILENO, screen.line);
    screen.shown = 1;
}

static void erase(void)
{
    if (screen.shown)
        put(STDOUT_FILENO, DDP_TTY_ERASE);
    screen.shown = 0;
}

static size_t width(void)
{
    struct winsize size;

    if (ioctl(screen.terminal, TIOCGWINSZ, &size) || size.ws_col == 0)
        return 79;
    return (size_t)size.ws_col - 1;
}

int ddp_terminal_renews(void)
{
    return screen.terminal >= 0;
}

/* Return the end of the group that begins with segment i. */
static size_t group_end(const ddp_terminal_segment *segments, size_t count, size_t i)
{
    do
        i++;
    while (i < count && strncmp(segments[i].text, "  ", 2) != 0);
    return i;
}

static size_t length_of(const ddp_terminal_segment *segments, size_t count)
{
    size_t length = 0;

    for (size_t i = 0; i < count; i++)
        length += strlen(segments[i].text);
    return length;
}

/* Put at most `room` letters of a segment behind the `used` bytes of the line. Returns the line's
 * bytes then. */
static size_t put_segment(const ddp_terminal_segment *segment, size_t used, size_t room)
{
    int coloured = screen.colours && segment->colour;
    int n = snprintf(screen.line + used, LINE - used, "%s%s%s%.*s%s", coloured ? "\033[" : "",
                     coloured ? segment->colour : "", coloured ? "m" : "", (int)room, segment->text,
                     coloured ? "\033[0m" : "");

    return n < 0 || used + (size_t)n >= LINE - 8 ? used : used + (size_t)n;
}

/* Compose the line. Only the first group is cut if there is no room for all of it. */
static void compose(const ddp_terminal_segment *segments, size_t count)
{
    size_t left = width(), used = 1, end;

    screen.line[0] = '\r';
    if (left > LINE / 4)
        left = LINE / 4;
    for (size_t i = 0; i < count; i = end) {
        end = group_end(segments, count, i);
        if (i > 0 && length_of(segments + i, end - i) > left)
            continue;
        for (size_t j = i; j < end; j++) {
            size_t length = strlen(segments[j].text) < left ? strlen(segments[j].text) : left;

            used = put_segment(&segments[j], used, length);
            left -= length;
        }
    }
    (void)snprintf(screen.line + used, LINE - used, "\033[K\r");
}

void ddp_terminal_show(const ddp_terminal_segment *segments, size_t count)
{
    int64_t now = ddp_clock_ns();

    lock();
    if (screen.open && screen.terminal >= 0 && !screen.ended
        && (!screen.shown || now - screen.shown_ns >= redraw_ns)) {
        screen.shown_ns = now;
        compose(segments, count);
        draw();
    }
    unlock();
}

void ddp_terminal_clear(void)
{
    lock();
    erase();
    screen.ended = 1;
    unlock();
}

/* ---- what goes through ---- */

static void print_bytes(int fd, const char *text, size_t bytes)
{
    int stood = screen.shown;

    if (bytes == 0)
        return;
    erase();
    (void)write_all(screen.joined ? STDOUT_FILENO : fd, text, bytes);
    screen.partial = text[bytes - 1] != '\n';
    if (stood && !screen.partial)
        draw();
    add_to_log(text, bytes);
}

/* A stream to fd, and the bytes of a character that has begun and is not whole yet. */
struct stream {
    int fd;
    char begun[BEGUN];
    size_t begun_bytes;
};

/* Print text without its control characters (base/printable.h). All that is printed comes through
 * here. fd < 0: for the log alone. last: 1 if no more comes of this stream. */
static void print_text(struct stream *s, const char *text, size_t bytes, int last)
{
    char in[BEGUN + BLOCK], out[DDP_PRINTABLE_ROOM * sizeof in];

    while (bytes > 0) {
        size_t taken = bytes < BLOCK ? bytes : BLOCK, used, n, all = s->begun_bytes + taken;

        memcpy(in, s->begun, s->begun_bytes);
        memcpy(in + s->begun_bytes, text, taken);
        n = ddp_printable(out, in, all, last && taken == bytes ? NULL : &used);
        if (last && taken == bytes)
            used = all;
        s->begun_bytes = all - used;
        memcpy(s->begun, in + used, s->begun_bytes);
        if (s->fd < 0)
            add_to_log(out, n);
        else
            print_bytes(s->fd, out, n);
        text += taken;
        bytes -= taken;
    }
}

void ddp_terminal_log_only(const char *line)
{
    struct stream s = {.fd = -1};

    lock();
    print_text(&s, line, strlen(line), 1);
    unlock_and_flush(0);
}

void ddp_terminal_say(int fd, const char *text)
{
    struct stream s = {.fd = fd};

    lock();
    end_partial(fd);
    print_text(&s, text, strlen(text), 1);
    unlock();
}

static ssize_t take(void *cookie, const char *text, size_t bytes)
{
    struct stream *s = cookie;

    lock();
    print_text(s, text, bytes, 0);
    unlock_and_flush(s->fd == STDERR_FILENO);
    return (ssize_t)bytes;
}

FILE *ddp_terminal_stream(int fd)
{
    struct stream *s = calloc(1, sizeof *s);
    FILE *f;

    if (!s)
        return NULL;
    s->fd = fd;
    f = fopencookie(s, "w", (cookie_io_functions_t){.write = take});
    if (!f)
        free(s);
    return f;
}

/* ---- opening ---- */

/* Open what a descriptor of mpirun, or of what started that, leads to, if it is a terminal; else
 * return -1. The caller closes it. */
static int open_of_launcher(int theirs)
{
    int starter = (int)ddp_child_starter(), fd;
    char link[64], path[256], ours[256] = "";
    ssize_t n;

    (void)snprintf(link, sizeof link, "/proc/%d/fd/%d", starter > 0 ? starter : (int)getppid(),
                   theirs);
    n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return -1;
    path[n] = 0;
    (void)!ttyname_r(STDOUT_FILENO, ours, sizeof ours);
    if (strcmp(ours, path) == 0 || strncmp(path, "/dev/", 5) != 0)
        return -1;
    fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && !ddp_tty_erases(fd)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* Find the terminal of standard output, and whether standard error goes there, too. An error for
 * the process that started mpirun must come as standard error: launch/output_relay.h reads it. */
static void find_terminal(ddp_launcher launcher)
{
    int error;

    screen.terminal = -1;
    screen.joined = 0;
    if (!ddp_launched(launcher)) {
        screen.terminal = ddp_tty_erases(STDOUT_FILENO) ? STDOUT_FILENO : -1;
        screen.joined = ddp_tty_is_one(STDOUT_FILENO, STDERR_FILENO);
        return;
    }
    if (ddp_mpirun_holds_lines())
        return;
    screen.terminal = ddp_tty_erases(STDOUT_FILENO) ? open_of_launcher(STDOUT_FILENO) : -1;
    error = open_of_launcher(STDERR_FILENO);
    screen.joined = !ddp_supervisor_is_ours() && ddp_tty_is_one(screen.terminal, error);
    if (error >= 0)
        (void)close(error);
}

const char *ddp_terminal_erasing(ddp_launcher launcher)
{
    int error =
        launcher.rank > 0 && !ddp_supervisor_is_ours() ? open_of_launcher(STDERR_FILENO) : -1;

    if (error < 0)
        return "";
    (void)close(error);
    return DDP_TTY_ERASE;
}

void ddp_terminal_replace_streams(void)
{
    FILE *out, *err;

    (void)fflush(NULL);
    out = ddp_terminal_stream(STDOUT_FILENO);
    err = out ? ddp_terminal_stream(STDERR_FILENO) : NULL;
    if (!err)
        return;
    if (isatty(STDOUT_FILENO))
        (void)setvbuf(out, NULL, _IOLBF, 0);
    (void)setvbuf(err, NULL, _IONBF, 0);
    stdout = out;
    stderr = err;
}

void ddp_terminal_open(ddp_launcher launcher)
{
    const char *no_colour = getenv("NO_COLOR");

    if (screen.open)
        return;
    (void)fflush(NULL);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    find_terminal(launcher);
    screen.colours = !(no_colour && *no_colour);
    screen.remembers = 1;
    screen.flushed_ns = ddp_clock_ns();
    screen.open = 1;
}
