/* checkpoint/name_lock.h: one run at a time saves under a name.
 *
 * A file, made if it is not there (O_EXCL), says which process owns the name: its host, number and
 * start. The owner increments a counter in the file every second, for as long as it lives. This
 * needs no clock that hosts share and no lock that a network file system may not have. A dead owner
 * holds nothing. Another run on the owner's host looks for the process, by number and start. A run
 * on another host watches the counter for 10 seconds.
 *
 * An owner that finds another's mark in the file has lost it, and must write nothing any more. It
 * was taken over, or was stopped for so long that it seemed dead.
 */
#ifndef DDP_CHECKPOINT_NAME_LOCK_H
#define DDP_CHECKPOINT_NAME_LOCK_H

#include "base/status.h"

typedef struct ddp_name_lock ddp_name_lock;

/* How a name is owned, and who hears of it. */
typedef struct ddp_name_lock_config {
    int take_over; /* 1: the name is taken over from another owner, dead or alive */
    /* Called with a sentence, without a newline, that lives for the call: who is waited for, was
     * found dead, or was taken over. Not NULL. */
    void (*note)(const char *sentence);
    /* Called ten times a second while another owner is waited for. Not NULL. */
    void (*waits)(void);
    /* Called as soon as the file is made, by open or by renew, before the calling thread takes a
     * signal. NULL: nothing is called. */
    void (*owns)(const char *path);
    /* Called at most one time, on the lock's own thread, when ownership was lost; err says to whom.
     * NULL: nothing is called. */
    void (*lost)(const ddp_error *err);
} ddp_name_lock_config;

/* Own the file at path. If a process of this host owns it, waits up to 2 s for its end. If the
 * owner is on another host, or the file is a copy, watches the counter for up to 10 s: if it does
 * not rise, the owner is dead. With config->take_over it waits for neither. *out is set on success.
 * DDP_ERR_USAGE: another run owns it; the error says which. DDP_ERR_IO: the file cannot be written,
 * read or removed. Fails also with DDP_ERR_NOMEM.
 */
ddp_status ddp_name_lock_open(ddp_name_lock **out, const char *path,
                              const ddp_name_lock_config *config, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if another run owns the file; the text says which. A file that cannot be
 * read, or was removed, counts as ours. */
ddp_status ddp_name_lock_check(const ddp_name_lock *o, ddp_error *err) DDP_MUST_CHECK;

/* Make the file again, if it was removed with its directory. If another run has made one meanwhile,
 * nothing happens, and ddp_name_lock_check says so. If it cannot be made, nothing is reported. */
void ddp_name_lock_renew(const ddp_name_lock *o);

/* Remove the file if it is ours. If it was taken over from an owner that may still run, leave it:
 * the old owner sees in the file that the name is lost. Call when the process is about to end, from
 * any thread. NULL is allowed. */
void ddp_name_lock_remove(const ddp_name_lock *o);

/* Remove the file as ddp_name_lock_remove does, end the thread, and free o. NULL is allowed. */
void ddp_name_lock_close(ddp_name_lock *o);

#endif
