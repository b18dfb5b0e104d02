#include "checkpoint/name_lock.h"

#include "base/clock.h"
#include "checkpoint/owner_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = DDP_OWNER_TEXT, BEAT_MS = 1000, LOOK_MS = 100 };

static const double ending_s = 2, alive_s = 10;

struct ddp_name_lock {
    char *path;
    ddp_name_lock_config config;
    ddp_owner_mark mine;
    ddp_owner_mark taken; /* from whom it was taken over; no token: from nobody */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t closed;
    int closing;
};

static int is_mine(const ddp_name_lock *o, const ddp_owner_mark *m)
{
    return strcmp(o->mine.token, m->token) == 0;
}

static void pause_ms(int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    (void)nanosleep(&time, NULL);
}

static void tell(const ddp_name_lock *o, const ddp_owner_mark *m, const char *before)
{
    char text[TEXT];

    (void)snprintf(text, sizeof text, "%s%.200s: process %" PRId64 " on %.64s, since %s", before,
                   o->path, m->pid, m->host[0] ? m->host : "a host that is not known",
                   m->since[0] ? m->since : "a time that is not known");
    o->config.note(text);
}

/* The fate of the process that has marked the file. */
enum verdict { ALIVE, DEAD, GONE };

/* Waits a moment for the process: a job that failed, or was ended, may still be ending. */
static enum verdict watch_process(const ddp_name_lock *o, const ddp_owner_mark *m)
{
    int64_t end_ns = ddp_clock_ns() + (int64_t)(ending_s * 1e9);

    while (ddp_owner_mark_runs(m)) {
        if (ddp_clock_ns() > end_ns)
            return ALIVE;
        o->config.on_wait();
        pause_ms(LOOK_MS);
    }
    return DEAD;
}

static enum verdict watch_count(const ddp_name_lock *o, const ddp_owner_mark *m)
{
    int64_t end_ns = ddp_clock_ns() + (int64_t)(alive_s * 1e9);
    ddp_owner_mark now;

    tell(o, m, "waiting 10 s at most, to see whether the run is alive that saves at ");
    while (ddp_clock_ns() < end_ns) {
        o->config.on_wait();
        pause_ms(LOOK_MS);
        if (!ddp_owner_mark_read(o->path, &now))
            return GONE;
        if (strcmp(now.text, m->text) != 0)
            return ALIVE;
    }
    return DEAD;
}

/* A copy, of a folder that was copied while a run saved there, names a process that lives and
 * saves elsewhere. But some file systems number files as they like: so its count is looked at. */
static enum verdict judge(const ddp_name_lock *o, const ddp_owner_mark *m)
{
    return ddp_owner_mark_is_here(&o->mine, m) && !m->is_copy ? watch_process(o, m)
                                                              : watch_count(o, m);
}

static ddp_status refuse(const ddp_name_lock *o, const ddp_owner_mark *m, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_USAGE,
                    "%.200s: another run saves there, process %" PRId64 " on %.64s, since %s",
                    o->path, m->pid, m->host, m->since);
}

/* Remove m's file, unless another has replaced it meanwhile. Renaming finds out which it was: two
 * that find the same owner dead do not remove each other's. Fails with DDP_ERR_IO: where the folder
 * lets nobody but the owner of a file rename it, say. */
static ddp_status remove_mark(const ddp_name_lock *o, const ddp_owner_mark *m, ddp_error *err)
{
    char aside[TEXT];
    ddp_owner_mark moved;

    (void)snprintf(aside, sizeof aside, "%s.%s", o->path, o->mine.token);
    if (rename(o->path, aside))
        return errno == ENOENT
                   ? DDP_OK
                   : ddp_fail(err, DDP_ERR_IO, "cannot remove %s: %s", o->path, strerror(errno));
    if (ddp_owner_mark_read(aside, &moved) && strcmp(moved.token, m->token) != 0
        && link(aside, o->path) == 0) /* it was not m's */
        pause_ms(LOOK_MS);
    (void)unlink(aside);
    return DDP_OK;
}

/* ---- owning ---- */

/* No signal comes between: its handler may remove what config.on_own was told. */
static int open_new(const ddp_name_lock *o)
{
    sigset_t all, before;
    int fd;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && o->config.on_own)
        o->config.on_own(o->path);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return fd;
}

static ddp_status create(const ddp_name_lock *o, int *made, ddp_error *err)
{
    int fd = open_new(o);

    *made = fd >= 0;
    if (fd < 0 && errno == EEXIST)
        return DDP_OK;
    if (fd >= 0 && ddp_owner_mark_write(&o->mine, fd, 0) == 0)
        return DDP_OK;
    (void)ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", o->path, strerror(errno));
    if (fd >= 0)
        (void)unlink(o->path);
    return err->code;
}

/* Remove the mark of an owner that is dead, or that this run takes over from. */
static ddp_status take_from(ddp_name_lock *o, const ddp_owner_mark *other, ddp_error *err)
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
        ddp_owner_mark other;
        enum verdict verdict;
        int made;

        if (create(o, &made, err))
            return err->code;
        if (made)
            return DDP_OK;
        if (!ddp_owner_mark_read(o->path, &other)) {
            if (errno == ENOENT)
                continue;
            return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", o->path, strerror(errno));
        }
        verdict = o->config.take_over ? DEAD : judge(o, &other);
        if (verdict == ALIVE && !ddp_owner_mark_read(o->path, &other))
            continue; /* it has just ended */
        if (verdict == ALIVE)
            return refuse(o, &other, err);
        if (verdict == DEAD && take_from(o, &other, err))
            return err->code;
    }
}

ddp_status ddp_name_lock_check(const ddp_name_lock *o, ddp_error *err)
{
    ddp_owner_mark now;

    if (!ddp_owner_mark_read(o->path, &now) || !now.token[0] || is_mine(o, &now))
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
        (void)ddp_owner_mark_write(&o->mine, fd, count);
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
            if (o->config.on_lost)
                o->config.on_lost(&err);
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
    ddp_owner_mark_of_self(&o->mine);
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
    return o->taken.token[0]
           && !(ddp_owner_mark_is_here(&o->mine, &o->taken) && !ddp_owner_mark_runs(&o->taken));
}

void ddp_name_lock_remove(const ddp_name_lock *o)
{
    ddp_owner_mark now;

    if (o && !may_be_missed(o) && ddp_owner_mark_read(o->path, &now) && is_mine(o, &now))
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
