/* saves/async_writer.h: writes checkpoints by a thread, while training goes on. On rank 0.
 *
 *   1. ddp_async_writer_save copies the network, and queues the copy. Training waits for that.
 *   2. The writer's thread writes one checkpoint at a time: weights and state.
 *   3. ddp_async_writer_poll, after each step, tells which saves have ended.
 *
 * A second save of the same step (BASE.backup beside BASE_100.weights) shares the first one's copy
 * if that is not written yet. A save of a later step waits until the queue is empty. If there is no
 * memory for a copy, ddp_async_writer_save writes the network itself.
 *
 * If each rank has a part of the optimizer state (run->sharded), there is no copy. Then training
 * waits until the system has taken both files' bytes, and the thread syncs and renames the files. A
 * second save of the same step is a copy of these files, made by the thread. If the first save
 * fails, so do its copies; later saves are new ones. A save of a later step waits until at most one
 * earlier save is under way.
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

/* The most saves that may be under way, and the most paths in one ddp_async_result. */
enum { DDP_ASYNC_PATHS = 16 };

/* The saves that have ended since the last ddp_async_writer_poll. */
typedef struct ddp_async_result {
    int ended;                    /* number of saves that have ended */
    int last_failed;              /* 1: the save that ended last failed */
    double seconds;               /* how long the save that ended last took; 0: none has ended */
    char *saved[DDP_ASYNC_PATHS]; /* the latest saved paths, in order */
    int saved_count;
    ddp_status status; /* status of the first save that failed; DDP_OK: none did */
    ddp_error error;   /* error of the first save that failed */
} ddp_async_result;

/* Open a writer and start its thread. *out is NULL on failure. Fails with DDP_ERR_NOMEM.
 *   run        must outlive the writer
 *   directory  folder of the checkpoints; the string must outlive the writer
 *   keep       number of numbered checkpoints that stay there (ddp_pair_prune); 0: all */
ddp_status ddp_async_writer_open(ddp_async_writer **out, ddp_checkpoint_run *run,
                                 const char *directory, int keep, ddp_error *err) DDP_MUST_CHECK;

/* Wait for all saves, end the thread and free s; results not polled are lost. NULL is allowed. */
void ddp_async_writer_close(ddp_async_writer *s);

/* Start to save net's first `cutoff` layers at path. Before, call ddp_trainer_flush and gather
 * run->state. May wait for earlier saves. When this returns, net may change. Most errors are told
 * later, by ddp_async_writer_poll. Fails at once, with nothing written, with
 *   - DDP_ERR_FORMAT: a number of net is not finite;
 *   - DDP_ERR_COMM: other ranks do not send their optimizer state. */
ddp_status ddp_async_writer_save(ddp_async_writer *s, network *net, const char *path, int cutoff,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if no save waits or is being written; else 0. Saves that have failed do not wait. */
int ddp_async_writer_is_idle(ddp_async_writer *s);

/* Set *news to the saves that have ended since the last call. If `wait` is 1, or a save has failed,
 * first wait until all saves have ended. The caller frees the paths in news->saved. */
void ddp_async_writer_poll(ddp_async_writer *s, int wait, ddp_async_result *news);

#endif
