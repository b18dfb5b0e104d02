/* checkpoint/owner_mark.h: the file that says which process saves under a name: its host, number
 * and start, and a count that it increments for as long as it lives (name_lock.h). */
#ifndef DDP_CHECKPOINT_OWNER_MARK_H
#define DDP_CHECKPOINT_OWNER_MARK_H

#include <stdint.h>

enum { DDP_OWNER_TEXT = 1024, DDP_OWNER_WORD = 128 };

typedef struct ddp_owner_mark {
    char token[DDP_OWNER_WORD]; /* of this ownership alone */
    /* Where process numbers mean the same: the host, its start, its name space of numbers. */
    char host[DDP_OWNER_WORD], boot[DDP_OWNER_WORD], space[DDP_OWNER_WORD];
    int64_t pid;
    uint64_t start; /* of the process, by the kernel's count since it was booted */
    uint64_t file;  /* the number of the file that was marked; of a copy it is another */
    int is_copy;
    char since[DDP_OWNER_WORD];
    char text[DDP_OWNER_TEXT]; /* all of the file, its count too */
} ddp_owner_mark;

/* Of this process, as of now, with a token of its own. */
void ddp_owner_mark_of_self(ddp_owner_mark *m);

/* What the file at path says; it is opened anew each time, for which a network file system asks
 * its server. Returns 0 where there is none that can be read (errno says why). */
int ddp_owner_mark_read(const char *path, ddp_owner_mark *m);

/* Write m with a count to the open file fd, and close it. Returns -1 where that fails. */
int ddp_owner_mark_write(const ddp_owner_mark *m, int fd, uint64_t count);

/* Is the process of m where that of self can look its number up? */
int ddp_owner_mark_is_here(const ddp_owner_mark *self, const ddp_owner_mark *m);

/* Does the process of m run, which is here? */
int ddp_owner_mark_runs(const ddp_owner_mark *m);

#endif
