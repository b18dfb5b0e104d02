/* saves/async_writer.h: checkpoints that a thread writes while training goes on.
 *
 * The network is copied to memory, which is all that the step waits for. One thread writes one pair
 * at a time. A save of the same network meanwhile (BASE.backup beside BASE_100.weights) is written
 * after the first; a save of a later step waits. Where there is no memory for a copy the network
 * itself is written, and the step waits for that.
 *
 * Where ranks share out what the optimizer remembers (run->sharded) there is no copy: the step
 * waits until the system has taken both files' bytes, as they come from other ranks, and the thread
 * makes sure that they are on the disk. Another file of the same network is then a copy that the
 * thread makes; if the first write fails on the disk, the copies waiting for it fail too, and what
 * is saved later is written anew.
 */
#ifndef DDP_SAVES_ASYNC_WRITER_H
#define DDP_SAVES_ASYNC_WRITER_H

#include "base/status.h"
#include "state/checkpoint.h"

typedef struct ddp_async_writer ddp_async_writer;

/* As many may wait to be written, or told of. */
enum { DDP_ASYNC_PATHS = 16 };

/* What has become of saves. */
typedef struct ddp_async_result {
    int ended;                    /* saves that have since the last time */
    int last_failed;              /* the last of them */
    double seconds;               /* that it took to write */
    char *saved[DDP_ASYNC_PATHS]; /* those that went well, the last one last; free them */
    int saved_count;
    ddp_status status; /* of the first that failed, or DDP_OK */
    ddp_error error;   /* of that one */
} ddp_async_result;

/* run must outlive the saver. keep: numbered pairs to leave in directory, 0: all (ddp_pair_prune).
 * *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_async_writer_open(ddp_async_writer **out, ddp_checkpoint_run *run,
                                 const char *directory, int keep, ddp_error *err) DDP_MUST_CHECK;

/* Waits for what is being written. NULL is allowed. */
void ddp_async_writer_close(ddp_async_writer *s);

/* Have net written at path, as ddp_checkpoint_save does. Whether that went well is news. Fails with
 * DDP_ERR_FORMAT where net has a number that is not finite, and with DDP_ERR_COMM where
 * run->sharded cannot be asked. */
ddp_status ddp_async_writer_save(ddp_async_writer *s, network *net, const char *path, int cutoff,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Is nothing being written, or waiting to be? */
int ddp_async_writer_is_idle(ddp_async_writer *s);

/* What there is to tell, at once or, with wait or where a save has failed, when nothing is left to
 * write. */
void ddp_async_writer_poll(ddp_async_writer *s, int wait, ddp_async_result *news);

#endif
