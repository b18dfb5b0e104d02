/* checkpoint/owner_mark.h: reads and writes the lock file of name_lock.h. The file says which
 * process owns a run's name, by host, process number and start. It has a counter that the owner
 * increments as long as it lives. */
#ifndef DDP_CHECKPOINT_OWNER_MARK_H
#define DDP_CHECKPOINT_OWNER_MARK_H

#include <stdint.h>

/* Most bytes of the file's text, and of one value in the file, both with the 0 at the end. */
enum { DDP_OWNER_TEXT = 1024, DDP_OWNER_WORD = 128 };

/* The contents of a lock file. */
typedef struct ddp_owner_mark {
    char token[DDP_OWNER_WORD]; /* a random word, different for each time that a process owns the
                                   name */
    /* where pid is valid: the host, its boot, and its namespace of process numbers */
    char host[DDP_OWNER_WORD], boot[DDP_OWNER_WORD], space[DDP_OWNER_WORD];
    int64_t pid;
    uint64_t start; /* when the process began, in ticks since the boot; 0: not known */
    uint64_t file;  /* inode number of the file when written; a copy has another; 0: unknown */
    /* set by ddp_owner_mark_read: 1: the file's inode number is not `file`, as in a copy (but some
     * file systems renumber files); 0: it is, or that is not known */
    int is_copy;
    char since[DDP_OWNER_WORD]; /* when the process got the name, for people to read */
    char text[DDP_OWNER_TEXT];  /* the whole text of the file, with the counter */
} ddp_owner_mark;

/* Set *m for this process, with a new token. Leaves text, file and is_copy as they are. */
void ddp_owner_mark_of_self(ddp_owner_mark *m);

/* Read the file at path to *m, and return 1. Returns 0 if it cannot be read (errno says why).
 * Values that it lacks are empty or 0. Opens it anew, so a network file system asks its server. */
int ddp_owner_mark_read(const char *path, ddp_owner_mark *m);

/* Write m, with this value of the counter, to the open file fd, and close fd in any case. Returns
 * 0, or -1 if it failed. */
int ddp_owner_mark_write(const ddp_owner_mark *m, int fd, uint64_t count);

/* Return 1 if m's host, boot and namespace are those of self, a mark of this process, and m->pid is
 * above 0. Then m->pid is valid here. */
int ddp_owner_mark_is_here(const ddp_owner_mark *self, const ddp_owner_mark *m);

/* Return 1 if m's process still runs; 0 also if m->start is 0. Only if m->pid is valid here. */
int ddp_owner_mark_runs(const ddp_owner_mark *m);

#endif
