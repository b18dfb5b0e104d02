#include "show/run_log.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

static const int64_t write_ns = 1000000000;

static struct {
    pthread_mutex_t lock;
    int keeps; /* 1: what is added is kept */
    int fd;    /* -1: not open */
    int failed;
    char path[PATH_MAX];
    int writes;    /* 1: a thread writes the file */
    char *waiting; /* output for the file */
    size_t bytes, room;
    int64_t written_ns;
} run_log = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static void lock(void)
{
    (void)pthread_mutex_lock(&run_log.lock);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&run_log.lock);
}

static void note_failure(int error)
{
    char text[PATH_MAX + 256];

    if (!run_log.failed) {
        (void)snprintf(text, sizeof text, "darknet: cannot write %s: %s; training goes on\n",
                       run_log.path, strerror(error));
        (void)ddp_file_write_all(STDERR_FILENO, text, strlen(text));
    }
    run_log.failed = 1;
}

static int is_due(int now)
{
    if (run_log.fd < 0 || run_log.bytes == 0 || run_log.writes)
        return 0;
    return now || run_log.bytes >= MOST_BYTES / 2
           || ddp_clock_ns() - run_log.written_ns >= write_ns;
}

/* Unlock, then write what waits without the lock. On a disk that does not answer this thread stands
 * still, and others can say so. */
static void unlock_and_write(int now)
{
    char *text = run_log.waiting;
    size_t bytes = run_log.bytes;
    int due = is_due(now), error;

    if (due) {
        run_log.waiting = NULL;
        run_log.bytes = run_log.room = 0;
        run_log.writes = 1;
    }
    unlock();
    if (!due)
        return;
    error = ddp_file_write_all(run_log.fd, text, bytes);
    free(text);
    lock();
    if (error)
        note_failure(error);
    run_log.writes = 0;
    run_log.written_ns = ddp_clock_ns();
    unlock();
}

void ddp_run_log_keep(void)
{
    lock();
    run_log.keeps = 1;
    run_log.written_ns = ddp_clock_ns();
    unlock();
}

void ddp_run_log_drop(void)
{
    lock();
    run_log.keeps = 0;
    run_log.bytes = 0;
    unlock();
}

static void write_head(const char *head)
{
    size_t bytes = strlen(head);
    char *out = malloc(DDP_PRINTABLE_ROOM * bytes + 1);
    int error =
        out ? ddp_file_write_all(run_log.fd, out, ddp_printable(out, head, bytes, NULL)) : ENOMEM;

    if (error)
        note_failure(error);
    free(out);
}

void ddp_run_log_open(const char *path, int append, const char *head)
{
    char old[PATH_MAX];

    lock();
    if (run_log.keeps) {
        (void)snprintf(run_log.path, sizeof run_log.path, "%s", path);
        (void)snprintf(old, sizeof old, "%s.old", path);
        if (!append && rename(path, old) && errno != ENOENT)
            note_failure(errno);
        run_log.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        run_log.keeps = run_log.fd >= 0;
        if (run_log.fd < 0)
            note_failure(errno);
        else
            write_head(head);
    }
    unlock_and_write(1);
}

void ddp_run_log_add(const char *text, size_t bytes)
{
    lock();
    if (run_log.keeps && run_log.bytes + bytes <= MOST_BYTES) {
        if (run_log.bytes + bytes > run_log.room) {
            size_t room = 2 * (run_log.bytes + bytes);
            char *grown = realloc(run_log.waiting, room);

            run_log.waiting = grown ? grown : run_log.waiting;
            run_log.room = grown ? room : run_log.room;
        }
        if (run_log.bytes + bytes <= run_log.room) {
            memcpy(run_log.waiting + run_log.bytes, text, bytes);
            run_log.bytes += bytes;
        }
    }
    unlock();
}

void ddp_run_log_add_line(const char *line)
{
    size_t bytes = strlen(line);
    char *out = malloc(DDP_PRINTABLE_ROOM * bytes + 1);

    if (out)
        ddp_run_log_add(out, ddp_printable(out, line, bytes, NULL));
    free(out);
    ddp_run_log_write(0);
}

void ddp_run_log_write(int now)
{
    lock();
    unlock_and_write(now);
}

void ddp_run_log_flush(void)
{
    int left;

    do {
        lock();
        left = run_log.fd >= 0 && (run_log.writes || run_log.bytes > 0);
        unlock_and_write(1);
        if (left)
            (void)usleep(1000);
    } while (left);
}

void ddp_run_log_bring_back(void)
{
    lock();
    if (run_log.fd >= 0 && !run_log.writes)
        ddp_file_bring_back(run_log.path, run_log.fd);
    unlock();
}
