/* checkpoint/owner_mark.h: the file that says which process saves under a name: its host, number
 * and start, and a count that it increments for as long as it lives (name_lock.h). */
#ifndef DDP_CHECKPOINT_OWNER_MARK_H
#define DDP_CHECKPOINT_OWNER_MARK_H

#include <stdint.h>

/* Bytes, with the 0 at the end: of all text of the file, and of one word of it. */
enum { DDP_OWNER_TEXT = 1024, DDP_OWNER_WORD = 128 };

/* The contents of an owner's file. */
typedef struct ddp_owner_mark {
    char token[DDP_OWNER_WORD]; /* a random word of this ownership alone */
    /* Where pid is valid: the host, its boot, and its name space of process numbers. */
    char host[DDP_OWNER_WORD], boot[DDP_OWNER_WORD], space[DDP_OWNER_WORD];
    int64_t pid;
    uint64_t start; /* when the process began, in the kernel's ticks since the boot */
    uint64_t file;  /* inode number of the file that was marked; a copy has another */
    int is_copy;    /* 1: the file that was read is not the one that was marked, but a copy */
    char since[DDP_OWNER_WORD]; /* when the ownership began, for people */
    char text[DDP_OWNER_TEXT]; /* all text of the file, with the count that a living owner raises */
} ddp_owner_mark;

/* Set all of *m but text, file and is_copy: for this process, with a new token. */
void ddp_owner_mark_of_self(ddp_owner_mark *m);

/* Read the file at path to *m, and return 1. The file is opened anew each time, so that a network
 * file system asks its server. Returns 0 if there is no file that can be read (errno says why). */
int ddp_owner_mark_read(const char *path, ddp_owner_mark *m);

/* Write m, with a count, to the open file fd, and close fd in any case. Returns 0; -1: failed. */
int ddp_owner_mark_write(const ddp_owner_mark *m, int fd, uint64_t count);

/* Return 1 if m's host, boot and name space are self's, so that m->pid is valid here. */
int ddp_owner_mark_is_here(const ddp_owner_mark *self, const ddp_owner_mark *m);

/* Return 1 if m's process still runs. Call only where ddp_owner_mark_is_here returns 1. */
int ddp_owner_mark_runs(const ddp_owner_mark *m);

#endif
