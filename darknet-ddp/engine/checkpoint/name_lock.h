/* checkpoint/name_lock.h: a lock file that lets one run at a time save under a name, also in a
 * folder that several hosts share.
 *
 * The owner makes the file (O_EXCL) and writes its host, process number and start to it. A thread
 * of the owner increments a counter in the file every second. This needs no clock that hosts share,
 * and no lock of the file system, which a network file system may not have.
 *
 * A run that finds another owner's file, and was not told to take the name over, looks whether that
 * owner is alive. On the same host, in the same PID namespace, it looks for a process with this
 * number and start, for up to 2 seconds. Elsewhere, or if the file was copied with its folder, it
 * watches the counter for up to 10 seconds. A dead owner's file is removed.
 *
 * An owner that finds another owner's file there has lost the name, and must save no more. The
 * other took the name over, or this one was stopped for so long that it seemed dead. */
#ifndef DDP_CHECKPOINT_NAME_LOCK_H
#define DDP_CHECKPOINT_NAME_LOCK_H

#include "base/status.h"

typedef struct ddp_name_lock ddp_name_lock;

/* How to get the lock, and functions that it calls. */
typedef struct ddp_name_lock_config {
    int take_over; /* 1: take the name over from another owner, dead or alive, without waiting */
    /* Called with a sentence that says which other owner is waited for, or whose file will now be
     * removed. It has no newline, and is valid during the call. Not NULL. */
    void (*note)(const char *sentence);
    /* Called ten times a second while another owner is waited for. Not NULL. */
    void (*on_wait)(void);
    /* Called with the lock file's path as soon as open or renew has made the file. The calling
     * thread takes no signal in between. path is valid until the lock is closed, or open has
     * failed. NULL: nothing is called. */
    void (*on_own)(const char *path);
    /* Called at most once, on the thread of the lock, when another run has taken the name; err
     * names that run. It must not close the lock. NULL: nothing is called. */
    void (*on_lost)(const ddp_error *err);
} ddp_name_lock_config;

/* Make the lock file at path, and start the thread that counts in it. path and *config are copied.
 * If another owner's file is there, and take_over is 0, waits up to 10 s to see whether that owner
 * is alive. *out is set on success. Fails with:
 *   DDP_ERR_USAGE   another run owns the file; the text says which
 *   DDP_ERR_IO      the file cannot be written, read or removed
 *   DDP_ERR_NOMEM */
ddp_status ddp_name_lock_open(ddp_name_lock **out, const char *path,
                              const ddp_name_lock_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if another run owns the file now; the text says which. A file that cannot
 * be read, or was removed, counts as ours. */
ddp_status ddp_name_lock_check(const ddp_name_lock *o, ddp_error *err) DDP_MUST_CHECK;

/* Make the file again, if it was removed; its directory must be there. Does nothing if another run
 * has made one; ddp_name_lock_check then fails. A failure to make it is not reported. */
void ddp_name_lock_renew(const ddp_name_lock *o);

/* Remove the file if it is ours. But if o took the name over from an owner that may still run, the
 * file stays, and tells that owner of its loss. Call when the process is about to end, from any
 * thread, but not in a signal handler. o may be NULL. */
void ddp_name_lock_remove(const ddp_name_lock *o);

/* End the thread, remove the file as ddp_name_lock_remove does, and free o. NULL is allowed. */
void ddp_name_lock_close(ddp_name_lock *o);

#endif
