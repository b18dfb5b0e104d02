/* How a save is written. ddp_async_writer_save copies the network (state/snapshot.h), unless a
 * queued save is of the same step, and queues a task. Without memory for this it writes the files
 * itself. A thread (`work`) writes the pairs of weights and state file one by one (`perform`). With
 * -ddp_shard_optimizer the save itself writes both files, with moments that other ranks send; the
 * thread syncs and renames them, or copies the last pair if that is of the same step. */
#include "saves/async_writer.h"

#include "base/clock.h"
#include "base/path.h"
#include "checkpoint/find.h"
#include "checkpoint/match.h"
#include "checkpoint/pair.h"
#include "saves/run_lock.h"
#include "state/save.h"
#include "state/snapshot.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMED = 2 }; /* pairs at most whose parts lie on the disk, waiting for it */

/* One pair to write. */
struct task {
    char *path;
    ddp_pair_writing *writing; /* whose parts are written; NULL: the snapshot's, or a copy's */
    int64_t spent_ns;          /* on these */
    char *from;                /* to copy, an earlier task's path; NULL: none */
    uint64_t from_saved_at_ns;
};

/* The pair that was streamed last. */
struct streamed {
    char *path; /* NULL: nothing was, or it could not be finished */
    int cutoff;
    ddp_checkpoint_metadata metadata;
};

struct ddp_async_writer {
    ddp_checkpoint_run *run;
    const char *directory;
    int keep;
    ddp_snapshot *snapshot;
    struct streamed streamed;
    char *numbered; /* the numbered pair that was saved last; NULL: none was */
    /* 1: the folder has been read for a numbered save. Both of the thread that writes */
    int has_pruned;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* The fields below are read and written under the lock. */
    int ending;
    struct task tasks[DDP_ASYNC_PATHS]; /* the first is being written */
    int count;
    ddp_async_result news;
};

/* ---- the thread ---- */

/* Note a saved file for ddp_async_writer_poll. Where too many have not been told yet, the oldest
 * never is.
 */
static void add_saved(ddp_async_result *news, char *path)
{
    if (!path)
        return;
    if (news->saved_count == DDP_ASYNC_PATHS) {
        free(news->saved[0]);
        news->saved_count--;
        memmove(news->saved, news->saved + 1, (size_t)news->saved_count * sizeof *news->saved);
    }
    news->saved[news->saved_count++] = path;
}

static void add_news(ddp_async_writer *s, const char *path, int64_t began_ns, ddp_status status,
                     const ddp_error *err)
{
    s->news.seconds = (double)(ddp_clock_ns() - began_ns) / 1e9;
    s->news.ended++;
    s->news.last_failed = status != DDP_OK;
    if (!status) {
        add_saved(&s->news, strdup(path));
    } else if (!s->news.status) {
        s->news.status = status;
        s->news.error = *err;
    }
}

/* After a write of path: remove the oldest numbered files beyond -keep, and the state of those that
 * stay. The folder is read until numbered ones were saved, and with -keep by each save. */
static ddp_status keep_last(ddp_async_writer *s, const char *path, ddp_error *err)
{
    int is_numbered = ddp_match_is_numbered(ddp_path_name(path), s->run->base);
    ddp_status st = DDP_OK;

    if (s->keep > 0 || !s->has_pruned)
        st = ddp_pair_prune(s->directory, s->run->base, s->keep > 0 ? (size_t)s->keep : SIZE_MAX,
                            err);
    else if (is_numbered && s->numbered && strcmp(s->numbered, path) != 0)
        ddp_pair_reduce(s->numbered);
    if (is_numbered) {
        s->has_pruned = 1;
        free(s->numbered);
        s->numbered = strdup(path);
    }
    return st;
}

/* Once more where the directory is removed meanwhile. */
static ddp_status write_copy(ddp_async_writer *s, const char *path, ddp_error *err)
{
    ddp_status st = ddp_snapshot_write(s->snapshot, path, err);

    if (st && ddp_run_lock_restore(s->directory))
        st = ddp_snapshot_write(s->snapshot, path, err);
    return st;
}

/* Write one pair. Only one thread at a time does so: no lock. */
static ddp_status perform(ddp_async_writer *s, const char *path, const struct task *task,
                          ddp_error *err)
{
    ddp_status st;

    if (task->from)
        st = ddp_pair_copy(path, task->from, task->from_saved_at_ns, s->run->guard, err);
    else if (task->writing)
        st = ddp_pair_finish(task->writing, err);
    else
        st = write_copy(s, path, err);
    return st ? st : keep_last(s, path, err);
}

/* Forget the pair that was streamed last, so that the next save of its network is streamed again
 * and not copied from a file that is not there. A pair that was streamed since the one that failed
 * is forgotten, too, without need. Call under the lock. */
static void forget_streamed(ddp_async_writer *s)
{
    free(s->streamed.path);
    s->streamed.path = NULL;
}

static void *work(void *ctx)
{
    ddp_async_writer *s = ctx;

    (void)pthread_mutex_lock(&s->lock);
    for (;;) {
        struct task task;
        ddp_error err;
        ddp_status st;
        int64_t began_ns;

        while (s->count == 0 && !s->ending)
            (void)pthread_cond_wait(&s->changed, &s->lock);
        if (s->count == 0)
            break;
        task = s->tasks[0];
        (void)pthread_mutex_unlock(&s->lock);
        began_ns = ddp_clock_ns();
        st = perform(s, task.path, &task, &err);
        (void)pthread_mutex_lock(&s->lock);
        if (!task.writing && !task.from)
            s->run->saved_at_ns = ddp_snapshot_saved_at_ns(s->snapshot);
        if (st && (task.writing || task.from))
            forget_streamed(s);
        add_news(s, task.path, began_ns - task.spent_ns, st, &err);
        free(task.path);
        free(task.from);
        s->count--;
        memmove(s->tasks, s->tasks + 1, (size_t)s->count * sizeof *s->tasks);
        (void)pthread_cond_broadcast(&s->changed);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Signals are for the main thread. */
static int start(ddp_async_writer *s)
{
    sigset_t all, before;
    int failed;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    failed = pthread_create(&s->thread, NULL, work, s);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* ---- a copy is written ---- */

/* Queue a pair to write. Returns 0 where there is no memory for its name. */
static int add_task(ddp_async_writer *s, const char *path, struct task task)
{
    task.path = strdup(path);
    if (!task.path)
        return 0;
    s->tasks[s->count++] = task;
    (void)pthread_cond_broadcast(&s->changed);
    return 1;
}

static void wait_until_fewer(ddp_async_writer *s, int count)
{
    while (s->count >= count)
        (void)pthread_cond_wait(&s->changed, &s->lock);
}

/* Behind what is being written, if that is of the same network. Returns 0 where it is not, or where
 * there is no memory to find out. */
static int join(ddp_async_writer *s, network *net, const char *path, int cutoff)
{
    ddp_error err;
    int same;

    if (s->count == 0 || s->count == DDP_ASYNC_PATHS)
        return 0;
    return !ddp_snapshot_matches(s->snapshot, net, cutoff, s->run, &same, &err) && same
           && add_task(s, path, (struct task){0});
}

static ddp_status save_directly(ddp_async_writer *s, network *net, const char *path, int cutoff)
{
    int64_t began_ns = ddp_clock_ns();
    ddp_error err;
    ddp_status st = ddp_checkpoint_save(net, path, cutoff, s->run, &err);

    if (!st)
        st = keep_last(s, path, &err);
    add_news(s, path, began_ns, st, &err);
    return DDP_OK;
}

static ddp_status save_copy(ddp_async_writer *s, network *net, const char *path, int cutoff,
                            ddp_error *err)
{
    ddp_status st;

    if (join(s, net, path, cutoff))
        return DDP_OK;
    wait_until_fewer(s, 1);
    st = ddp_snapshot_take(s->snapshot, net, cutoff, s->run, err);
    if (st == DDP_ERR_FORMAT)
        return ddp_wrap(err, "%s is not written", path);
    if (!st && add_task(s, path, (struct task){0}))
        return DDP_OK;
    return save_directly(s, net, path, cutoff);
}

/* ---- or it is streamed ---- */

/* Was this streamed last? Then the thread copies it, once it is on the disk. Returns 0 as join
 * does. */
static int copy_streamed(ddp_async_writer *s, network *net, const char *path, int cutoff)
{
    const struct streamed *last = &s->streamed;
    struct task task = {.from_saved_at_ns = last->metadata.saved_at_ns};
    ddp_error err;
    int same;

    if (!last->path || last->cutoff != cutoff || strcmp(last->path, path) == 0)
        return 0;
    if (ddp_checkpoint_matches(&last->metadata, net, s->run, &same, &err) || !same)
        return 0;
    task.from = strdup(last->path);
    if (task.from && add_task(s, path, task))
        return 1;
    free(task.from);
    return 0;
}

static void remember_streamed(struct streamed *last, const char *path, int cutoff,
                              const ddp_pair_writing *w)
{
    free(last->path);
    *last = (struct streamed){
        .path = strdup(path), .cutoff = cutoff, .metadata = *ddp_pair_metadata(w)};
}

/* Write the parts while other ranks send the moments that they have; syncing them to the disk is
 * left to the thread. */
static ddp_status stream(ddp_async_writer *s, network *net, const char *path, int cutoff,
                         ddp_error *err)
{
    int64_t began_ns = ddp_clock_ns();
    ddp_pair_writing *writing;
    ddp_error found;
    ddp_status st;

    wait_until_fewer(s, DDP_ASYNC_PATHS);
    if (copy_streamed(s, net, path, cutoff))
        return DDP_OK;
    wait_until_fewer(s, STREAMED);
    st = ddp_checkpoint_write_parts(&writing, net, path, cutoff, s->run, &found);
    if (st == DDP_ERR_FORMAT || st == DDP_ERR_COMM) {
        *err = found;
        return st;
    }
    if (!st)
        remember_streamed(&s->streamed, path, cutoff, writing);
    if (!st
        && add_task(s, path,
                    (struct task){.writing = writing, .spent_ns = ddp_clock_ns() - began_ns}))
        return DDP_OK;
    if (!st) {
        wait_until_fewer(s, 1); /* of one path in the order of writing */
        st = perform(s, path, &(struct task){.writing = writing}, &found);
        if (st)
            forget_streamed(s);
    }
    add_news(s, path, began_ns, st, &found);
    return DDP_OK;
}

/* ---- from outside ---- */

ddp_status ddp_async_writer_open(ddp_async_writer **out, ddp_checkpoint_run *run,
                                 const char *directory, int keep, ddp_error *err)
{
    ddp_async_writer *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s || ddp_snapshot_open(&s->snapshot, err)) {
        free(s);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for saving");
    }
    s->run = run;
    s->directory = directory;
    s->keep = keep;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, NULL);
    if (start(s)) {
        ddp_snapshot_close(s->snapshot);
        free(s);
        return ddp_fail(err, DDP_ERR_NOMEM, "no thread for saving");
    }
    *out = s;
    return DDP_OK;
}

void ddp_async_writer_close(ddp_async_writer *s)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->lock);
    s->ending = 1;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
    (void)pthread_join(s->thread, NULL);
    ddp_snapshot_close(s->snapshot);
    forget_streamed(s);
    free(s->numbered);
    for (int i = 0; i < s->news.saved_count; i++)
        free(s->news.saved[i]);
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->changed);
    free(s);
}

ddp_status ddp_async_writer_save(ddp_async_writer *s, network *net, const char *path, int cutoff,
                                 ddp_error *err)
{
    ddp_status st;

    (void)pthread_mutex_lock(&s->lock);
    st = s->run->sharded ? stream(s, net, path, cutoff, err) : save_copy(s, net, path, cutoff, err);
    (void)pthread_mutex_unlock(&s->lock);
    return st;
}

int ddp_async_writer_is_idle(ddp_async_writer *s)
{
    int is_idle;

    (void)pthread_mutex_lock(&s->lock);
    is_idle = s->count == 0;
    (void)pthread_mutex_unlock(&s->lock);
    return is_idle;
}

void ddp_async_writer_poll(ddp_async_writer *s, int wait, ddp_async_result *news)
{
    (void)pthread_mutex_lock(&s->lock);
    /* On news of a failure the caller may end the run: let the writes that go on come to their end
     * first. */
    if (wait || s->news.status)
        wait_until_fewer(s, 1);
    *news = s->news;
    s->news = (ddp_async_result){0};
    (void)pthread_mutex_unlock(&s->lock);
}
