#include "show/terminal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/tty.h"
#include "show/find_terminal.h"
#include "show/run_log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BLOCK = 4096, BEGUN = 4 };

static const int64_t redraw_ns = 100000000;

static struct {
    pthread_mutex_t lock;
    int open;
    ddp_terminal_place place; /* its terminal is asked for its width */
    int colours;
    int partial; /* 1: the last line that was printed has not ended */
    int ended;   /* 1: no line is shown any more */
    int shown;   /* 1: the line is on the screen */
    int64_t shown_ns;
    char line[DDP_LINE_BYTES]; /* as it is drawn */
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER, .place = {.terminal = -1}};

static void lock(void)
{
    (void)pthread_mutex_lock(&screen.lock);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&screen.lock);
}

static volatile sig_atomic_t output_error; /* an errno; 0: none */
static int output = STDOUT_FILENO;         /* the descriptor of a copy of it, if one was taken */

int ddp_terminal_output_error(void)
{
    return output_error;
}

/* Write text. What cannot be written is dropped: the reader has gone, or the run ends. */
static void put_bytes(int fd, const char *text, size_t bytes)
{
    int error = ddp_file_write_all(fd, text, bytes);

    if (error && error != EPIPE && (fd == STDOUT_FILENO || fd == output))
        output_error = error;
}

static void put(int fd, const char *text)
{
    put_bytes(fd, text, strlen(text));
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

    if (ioctl(screen.place.terminal, TIOCGWINSZ, &size) || size.ws_col == 0)
        return 79;
    return (size_t)size.ws_col - 1;
}

int ddp_terminal_renews(void)
{
    return screen.place.terminal >= 0;
}

void ddp_terminal_show(const ddp_line_segment *segments, size_t count)
{
    int64_t now = ddp_clock_ns();

    lock();
    if (screen.place.terminal >= 0 && !screen.ended
        && (!screen.shown || now - screen.shown_ns >= redraw_ns)) {
        screen.shown_ns = now;
        ddp_compose_line(screen.line, segments, count, width(), screen.colours);
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
    put_bytes(screen.place.joined ? STDOUT_FILENO : fd, text, bytes);
    screen.partial = text[bytes - 1] != '\n';
    if (stood && !screen.partial)
        draw();
    ddp_run_log_add(text, bytes);
}

/* A stream to fd, and the bytes of a character that has begun and is not whole yet. */
struct stream {
    int fd;
    char begun[BEGUN];
    size_t begun_bytes;
};

/* Print text without its control characters (base/printable.h). All that is printed comes through
 * here. last: 1 if no more comes of this stream. */
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
        print_bytes(s->fd, out, n);
        text += taken;
        bytes -= taken;
    }
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
    unlock();
    ddp_run_log_write(s->fd == STDERR_FILENO);
    return (ssize_t)bytes;
}

FILE *ddp_terminal_stream(int fd)
{
    struct stream *s = calloc(1, sizeof *s);
    FILE *f;

    if (!s)
        return NULL;
    s->fd = fd;
    if (fd != STDERR_FILENO)
        output = fd;
    f = fopencookie(s, "w", (cookie_io_functions_t){.write = take});
    if (!f)
        free(s);
    return f;
}

/* ---- opening ---- */

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
    screen.place = ddp_find_terminal(launcher);
    screen.colours = !(no_colour && *no_colour);
    screen.open = 1;
    ddp_run_log_keep();
}
