#include "checkpoint/name_lock.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 1024, WORD = 128, BEAT_MS = 1000, LOOK_MS = 100 };

static const double ending_s = 2, alive_s = 10;

/* What the file says. */
struct mark {
    char token[WORD];                         /* of this ownership alone */
    char host[WORD], boot[WORD], space[WORD]; /* where process numbers mean the same */
    int64_t pid;
    uint64_t start; /* of the process, by the kernel's count since it was booted */
    uint64_t file;  /* the number of the file that was marked; of a copy it is another */
    int is_copy;
    char since[WORD];
    char text[TEXT]; /* all of the file, its count too */
};

struct ddp_name_lock {
    char *path;
    ddp_name_lock_config config;
    struct mark mine;
    struct mark taken; /* from whom it was taken over; no token: from nobody */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t closed;
    int closing;
};

/* ---- this process ---- */

static void read_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");

    out[0] = '\0';
    if (!f)
        return;
    if (!fgets(out, (int)size, f))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    (void)fclose(f);
}

/* When a process began; 0: there is none that runs. */
static uint64_t start_of(int64_t pid)
{
    char path[64], line[TEXT];
    char state = 'X';
    unsigned long long start = 0;
    const char *end;

    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", pid);
    read_line(path, line, sizeof line);
    end = strrchr(line, ')'); /* behind a name of any letters */
    if (!end
        || sscanf(
               end + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &state, &start)
               != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

static void describe_now(char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        out[0] = '\0';
}

static void describe_self(struct mark *m)
{
    uint64_t token = 0;
    ssize_t length = readlink("/proc/self/ns/pid", m->space, sizeof m->space - 1);

    m->space[length > 0 ? length : 0] = '\0';
    (void)getrandom(&token, sizeof token, GRND_NONBLOCK);
    (void)snprintf(m->token, sizeof m->token, "%016" PRIx64, token);
    if (gethostname(m->host, sizeof m->host - 1))
        m->host[0] = '\0';
    read_line("/proc/sys/kernel/random/boot_id", m->boot, sizeof m->boot);
    m->pid = getpid();
    m->start = start_of(m->pid);
    describe_now(m->since, sizeof m->since);
}

/* ---- the file ---- */

static int format(const struct mark *m, uint64_t count, char *out, size_t size)
{
    return snprintf(out, size,
                    "owner %s\nhost %s\nprocess %" PRId64 "\nstart %" PRIu64
                    "\nboot %s\nspace %s\nsince %s\nfile %" PRIu64 "\ncount %020" PRIu64 "\n",
                    m->token, m->host, m->pid, m->start, m->boot, m->space, m->since, m->file,
                    count);
}

/* What follows "key " in a line of text, or nothing. */
static void find(const char *text, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);

    out[0] = '\0';
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            (void)snprintf(out, size, "%.*s", (int)strcspn(line + length + 1, "\n"),
                           line + length + 1);
            return;
        }
}

static void parse(struct mark *m)
{
    char number[WORD];

    find(m->text, "owner", m->token, sizeof m->token);
    find(m->text, "host", m->host, sizeof m->host);
    find(m->text, "boot", m->boot, sizeof m->boot);
    find(m->text, "space", m->space, sizeof m->space);
    find(m->text, "since", m->since, sizeof m->since);
    find(m->text, "process", number, sizeof number);
    m->pid = strtoll(number, NULL, 10);
    find(m->text, "start", number, sizeof number);
    m->start = strtoull(number, NULL, 10);
    find(m->text, "file", number, sizeof number);
    m->file = strtoull(number, NULL, 10);
}

/* Of an open file in its file system; 0: not known. */
static uint64_t number_of(int fd)
{
    struct stat info;

    return fstat(fd, &info) ? 0 : (uint64_t)info.st_ino;
}

/* Opened anew each time, for which a network file system asks its server. 0: there is none that can
 * be read. */
static int read_mark(const char *path, struct mark *m)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    uint64_t file;
    ssize_t length;

    *m = (struct mark){0};
    if (fd < 0)
        return 0;
    length = read(fd, m->text, sizeof m->text - 1);
    file = number_of(fd);
    (void)close(fd);
    if (length < 0)
        return 0;
    m->text[length] = '\0';
    parse(m);
    m->is_copy = m->file && file && m->file != file;
    return 1;
}

static int write_mark(const ddp_name_lock *o, int fd, uint64_t count)
{
    char text[TEXT];
    struct mark mine = o->mine;
    int length;
    int failed;

    mine.file = number_of(fd);
    length = format(&mine, count, text, sizeof text);
    failed = length <= 0 || length >= (int)sizeof text
             || pwrite(fd, text, (size_t)length, 0) != (ssize_t)length;

    return close(fd) || failed ? -1 : 0;
}

static int is_mine(const ddp_name_lock *o, const struct mark *m)
{
    return strcmp(o->mine.token, m->token) == 0;
}

/* ---- another's ---- */

/* Is the process of this mark on this host, where its number can be looked up? */
static int is_here(const ddp_name_lock *o, const struct mark *m)
{
    return strcmp(o->mine.host, m->host) == 0 && strcmp(o->mine.boot, m->boot) == 0
           && strcmp(o->mine.space, m->space) == 0 && m->pid > 0;
}

static int process_runs(const struct mark *m)
{
    return m->start != 0 && start_of(m->pid) == m->start;
}

static void pause_ms(int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    (void)nanosleep(&time, NULL);
}

static void tell(const ddp_name_lock *o, const struct mark *m, const char *before)
{
    char text[TEXT];

    (void)snprintf(text, sizeof text, "%s%.200s: process %" PRId64 " on %.64s, since %s", before,
                   o->path, m->pid, m->host[0] ? m->host : "a host that is not known",
                   m->since[0] ? m->since : "a time that is not known");
    o->config.note(text);
}

/* What is found of the process that has marked the file. */
enum verdict { ALIVE, DEAD, GONE };

/* Waits a moment for the process: a job that failed, or was ended, may still be ending. */
static enum verdict watch_process(const ddp_name_lock *o, const struct mark *m)
{
    int64_t end_ns = ddp_clock_ns() + (int64_t)(ending_s * 1e9);

    while (process_runs(m)) {
        if (ddp_clock_ns() > end_ns)
            return ALIVE;
        o->config.waits();
        pause_ms(LOOK_MS);
    }
    return DEAD;
}

static enum verdict watch_count(const ddp_name_lock *o, const struct mark *m)
{
    int64_t end_ns = ddp_clock_ns() + (int64_t)(alive_s * 1e9);
    struct mark now;

    tell(o, m, "waiting 10 s at most, to see whether the run is alive that saves at ");
    while (ddp_clock_ns() < end_ns) {
        o->config.waits();
        pause_ms(LOOK_MS);
        if (!read_mark(o->path, &now))
            return GONE;
        if (strcmp(now.text, m->text) != 0)
            return ALIVE;
    }
    return DEAD;
}

/* A copy, of a folder that was copied while a run saved there, names a process that lives and
 * saves elsewhere. But some file systems number files as they like: so its count is looked at. */
static enum verdict judge(const ddp_name_lock *o, const struct mark *m)
{
    return is_here(o, m) && !m->is_copy ? watch_process(o, m) : watch_count(o, m);
}

static ddp_status refuse(const ddp_name_lock *o, const struct mark *m, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%.200s: another run saves there, process %" PRId64 " on %.64s, since %s",
                    o->path, m->pid, m->host, m->since);
}

/* Remove m's file, unless another has replaced it meanwhile. Renaming finds out which it was: two
 * that find the same owner dead do not remove each other's. Fails with DDP_ERR_IO: where the folder
 * lets nobody but the owner of a file rename it, say. */
static ddp_status remove_mark(const ddp_name_lock *o, const struct mark *m, ddp_error *err)
{
    char aside[TEXT];
    struct mark moved;

    (void)snprintf(aside, sizeof aside, "%s.%s", o->path, o->mine.token);
    if (rename(o->path, aside))
        return errno == ENOENT
                   ? DDP_OK
                   : ddp_fail(err, DDP_ERR_IO, "cannot remove %s: %s", o->path, strerror(errno));
    if (read_mark(aside, &moved) && strcmp(moved.token, m->token) != 0
        && link(aside, o->path) == 0) /* it was not m's */
        pause_ms(LOOK_MS);
    (void)unlink(aside);
    return DDP_OK;
}

/* ---- owning ---- */

/* No signal comes between: its handler may remove what config.owns was told. */
static int open_new(const ddp_name_lock *o)
{
    sigset_t all, before;
    int fd;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && o->config.owns)
        o->config.owns(o->path);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fd;
}

static ddp_status create(const ddp_name_lock *o, int *made, ddp_error *err)
{
    int fd = open_new(o);

    *made = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        return DDP_OK;
    if (fd >= 0 && write_mark(o, fd, 0) == 0)
        return DDP_OK;
    (void)ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", o->path, strerror(errno));
    if (fd >= 0)
        (void)unlink(o->path);
    return err->code;
}

/* Of an owner that is dead, or is to be. */
static ddp_status take_from(ddp_name_lock *o, const struct mark *other, ddp_error *err)
{
    tell(o, other,
         o->config.take_over ? "taking over "
         : other->is_copy    ? "nobody saves here, the file is a copy of another run's: "
                             : "the run is gone that saved at ");
    if (o->config.take_over)
        o->taken = *other;
    return remove_mark(o, other, err);
}

static ddp_status acquire(ddp_name_lock *o, ddp_error *err)
{
    for (;;) {
        struct mark other;
        enum verdict verdict;
        int made;

        if (create(o, &made, err))
            return err->code;
        if (made)
            return DDP_OK;
        if (!read_mark(o->path, &other)) {
            if (errno == ENOENT)
                continue;
            return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", o->path, strerror(errno));
        }
        verdict = o->config.take_over ? DEAD : judge(o, &other);
        if (verdict == ALIVE && !read_mark(o->path, &other))
            continue; /* it has just ended */
        if (verdict == ALIVE)
            return refuse(o, &other, err);
        if (verdict == DEAD && take_from(o, &other, err))
            return err->code;
    }
}

ddp_status ddp_name_lock_check(const ddp_name_lock *o, ddp_error *err)
{
    struct mark now;

    if (!read_mark(o->path, &now) || !now.token[0] || is_mine(o, &now))
        return DDP_OK;
    return refuse(o, &now, err);
}

void ddp_name_lock_renew(const ddp_name_lock *o)
{
    ddp_error err;
    int made;

    (void)create(o, &made, &err); /* what cannot be written is said by the save that follows */
}

/* Count in the file. Returns 0 where the file is another run's now. A count that cannot be written,
 * on a full disk say, is written next time. */
static int beat(ddp_name_lock *o, uint64_t count, ddp_error *err)
{
    int fd;

    if (ddp_name_lock_check(o, err))
        return 0;
    fd = open(o->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        (void)write_mark(o, fd, count);
    return 1;
}

static int wait_to_beat(ddp_name_lock *o)
{
    struct timespec until;
    int closing;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += BEAT_MS / 1000;
    (void)pthread_mutex_lock(&o->mutex);
    while (!o->closing && pthread_cond_timedwait(&o->closed, &o->mutex, &until) == 0)
        ;
    closing = o->closing;
    (void)pthread_mutex_unlock(&o->mutex);
    return !closing;
}

static void *live(void *arg)
{
    ddp_name_lock *o = arg;
    ddp_error err;

    for (uint64_t count = 1; wait_to_beat(o); count++)
        if (!beat(o, count, &err)) {
            if (o->config.lost)
                o->config.lost(&err);
            break;
        }
    return NULL;
}

/* The thread that counts takes no signals: they are for other threads. */
static int start_thread(ddp_name_lock *o)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    int failed;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&o->closed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&o->mutex, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&o->thread, NULL, live, o);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void release(ddp_name_lock *o)
{
    free(o->path);
    free(o);
}

ddp_status ddp_name_lock_open(ddp_name_lock **out, const char *path,
                              const ddp_name_lock_config *config, ddp_error *err)
{
    ddp_name_lock *o = calloc(1, sizeof *o);

    *out = NULL;
    if (!o || !(o->path = strdup(path))) {
        free(o);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
    }
    o->config = *config;
    describe_self(&o->mine);
    if (acquire(o, err)) {
        release(o);
        return err->code;
    }
    if (start_thread(o)) {
        ddp_name_lock_remove(o);
        release(o);
        return ddp_fail(err, DDP_ERR_NOMEM, "no thread to own %s", path);
    }
    *out = o;
    return DDP_OK;
}

/* Whoever it was taken over from may not have looked yet, and learns of it by this file. */
static int may_be_missed(const ddp_name_lock *o)
{
    return o->taken.token[0] && !(is_here(o, &o->taken) && !process_runs(&o->taken));
}

void ddp_name_lock_remove(const ddp_name_lock *o)
{
    struct mark now;

    if (o && !may_be_missed(o) && read_mark(o->path, &now) && is_mine(o, &now))
        (void)unlink(o->path);
}

void ddp_name_lock_close(ddp_name_lock *o)
{
    if (!o)
        return;
    (void)pthread_mutex_lock(&o->mutex);
    o->closing = 1;
    (void)pthread_cond_signal(&o->closed);
    (void)pthread_mutex_unlock(&o->mutex);
    (void)pthread_join(o->thread, NULL);
    ddp_name_lock_remove(o);
    (void)pthread_cond_destroy(&o->closed);
    (void)pthread_mutex_destroy(&o->mutex);
    release(o);
}
