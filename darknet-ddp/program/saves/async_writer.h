/* saves/async_writer.h: checkpoints that a thread writes while training goes on. On rank 0.
 *
 *   1. ddp_async_writer_save copies the network to memory, for which the step waits, and queues the
 *      pair of files.
 *   2. A thread of the writer's own writes one pair at a time.
 *   3. ddp_async_writer_poll, after each step, tells what has become of saves.
 *
 * A second save of the same network (BASE.backup beside BASE_100.weights) is queued behind the
 * first. A save of a later step waits until the queue is empty. If there is no memory for a copy,
 * ddp_async_writer_save writes the network itself.
 *
 * With run->sharded there is no copy: moments come from other ranks. Then the step waits until the
 * system has taken both files' bytes, and the thread syncs and renames the files. A second save of
 * the same network is a copy of these files, made by the thread. If the first save fails, its
 * copies fail, too, and later saves are written anew.
 *
 * Threads: all functions are called by one thread, the trainer's. The writer's thread reads
 * run->base and run->guard, and calls the guard (checkpoint/checkpoint.h). It writes
 * run->saved_at_ns, under the writer's lock. The trainer's thread may change all other fields of
 * run between calls. */
#ifndef DDP_SAVES_ASYNC_WRITER_H
#define DDP_SAVES_ASYNC_WRITER_H

#include "base/status.h"
#include "state/checkpoint.h"

typedef struct ddp_async_writer ddp_async_writer;

/* The most saves that wait to be written, or to be told of by ddp_async_writer_poll. */
enum { DDP_ASYNC_PATHS = 16 };

/* The saves that have ended since the last ddp_async_writer_poll. */
typedef struct ddp_async_result {
    int ended;       /* how many saves have ended */
    int last_failed; /* 1: the save that ended last failed */
    double seconds;  /* seconds that the save which ended last took; 0: none has ended */
    char
        *saved[DDP_ASYNC_PATHS]; /* paths that were saved, the latest last; the caller frees each */
    int saved_count;
    ddp_status status; /* status of the first save that failed, or DDP_OK */
    ddp_error error;   /* error of the first save that failed */
} ddp_async_result;

/* Open a writer and start its thread. run and directory must outlive it. directory: the folder of
 * the saves. keep: how many numbered pairs stay there (ddp_pair_prune); 0: all. *out is set on
 * success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_async_writer_open(ddp_async_writer **out, ddp_checkpoint_run *run,
                                 const char *directory, int keep, ddp_error *err) DDP_MUST_CHECK;

/* Wait until all saves are written, end the thread and free s. NULL is allowed. */
void ddp_async_writer_close(ddp_async_writer *s);

/* Start to save net's first `cutoff` layers at path, as ddp_checkpoint_save does. May first wait
 * for earlier saves of other steps. When this function returns, net may change.
 * ddp_async_writer_poll tells whether the save was written. Fails at once, with nothing written,
 * with DDP_ERR_FORMAT (a number of net is not finite) and DDP_ERR_COMM (run->sharded cannot be
 * asked). */
ddp_status ddp_async_writer_save(ddp_async_writer *s, network *net, const char *path, int cutoff,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if no save is being written or waits to be. */
int ddp_async_writer_is_idle(ddp_async_writer *s);

/* Move to *news what has become of saves since the last poll. If `wait` is 1, or a save has failed,
 * wait first until nothing is left to write. */
void ddp_async_writer_poll(ddp_async_writer *s, int wait, ddp_async_result *news);

#endif
