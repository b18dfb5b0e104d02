/* base/file.h: files that are there whole or not at all.
 *
 * A file is written in two phases:
 *  1. ddp_file_create writes PATH.part-<8 digits>, a new file that no link leads to. Then
 *     ddp_file_finish ends when all of it is on the disk and reads back as it was written.
 *  2. ddp_file_publish renames it to PATH.
 *
 * A process that dies in between leaves the old PATH as it was. Several files can be finished
 * before the first is published. Several processes may write the same PATH at a time. Each has a
 * part of its own, locked (flock) until it is renamed or removed; the last to publish wins. If a
 * writer dies, its part stays, unlocked, until the next ddp_file_create of PATH or
 * ddp_file_remove_dead_parts removes it. Hashes are XXH3, 64 bit. */
#ifndef DDP_BASE_FILE_H
#define DDP_BASE_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef struct ddp_file ddp_file;

typedef struct ddp_file_checksum {
    uint64_t bytes;
    uint64_t hash; /* hash of all bytes */
} ddp_file_checksum;

/* Start to write the file at path under another name. *out is set on success; end it with
 * ddp_file_publish or ddp_file_abandon. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_create(ddp_file **out, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Remove parts from path's folder that this user's processes left when they died. A part is removed
 * if is_meant(its file's name, path's last component) is not 0. Parts that another process has
 * locked stay, as do all where files cannot be locked. */
void ddp_file_remove_dead_parts(const char *path,
                                int (*is_meant)(const char *file, const char *of));

/* Return the stream to write to; f owns it. Writes to it never fail: ddp_file_finish reports what
 * the system refused, and what is written after that is lost. */
FILE *ddp_file_stream(ddp_file *f);

/* Return size and hash of all bytes that were given to the stream so far. */
ddp_file_checksum ddp_file_written(ddp_file *f);

/* Return 1 if the system has refused a write, so that the file can only be abandoned. */
int ddp_file_has_failed(const ddp_file *f);

/* End phase one: flush, fsync, read back. *sum becomes size and hash of the file. Nothing may be
 * written afterwards. Fails with DDP_ERR_IO, which says why (the disk is full, a quota is reached),
 * and DDP_ERR_NOMEM; then abandon f. */
ddp_status ddp_file_finish(ddp_file *f, ddp_file_checksum *sum, ddp_error *err) DDP_MUST_CHECK;

/* Close and remove the part, and free f. NULL is allowed. */
void ddp_file_abandon(ddp_file *f);

/* Rename the finished part of f to its path by ddp_file_rename, whose *renamed and errors it passes
 * on. If it was not renamed, the part is removed. Frees f in any case. */
ddp_status ddp_file_publish(ddp_file *f, int *renamed, ddp_error *err) DDP_MUST_CHECK;

/* Rename a file within its directory, and fsync the directory, so that the name lasts. A file or
 * link at `to` is replaced. *renamed: 1 if the rename was done, also on failure; else 0. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_rename(const char *from, const char *to, int *renamed,
                           ddp_error *err) DDP_MUST_CHECK;

/* Fsync the directory of path, so that names in it last. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_sync_directory(const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Read the first bytes, at most `most`, of a regular file. The caller frees *data, which has a zero
 * byte behind the last of *bytes, and is NULL on failure. *size: bytes of the whole file. Fails
 * with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_read(const char *path, size_t most, void **data, size_t *bytes, uint64_t *size,
                         ddp_error *err) DDP_MUST_CHECK;

/* Open a regular file to read, and set *size to its bytes. The caller closes *fd, which is -1 on
 * failure. Fails with DDP_ERR_IO. */
ddp_status ddp_file_open(const char *path, int *fd, uint64_t *size, ddp_error *err) DDP_MUST_CHECK;

/* Read a file and set *sum to its size and hash. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_checksum_of(const char *path, ddp_file_checksum *sum,
                                ddp_error *err) DDP_MUST_CHECK;

/* Replace the file `to`, if there is one, by a copy of the file `from`. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. After a failure `to` is as it was or, if only the fsync of its directory failed,
 * the copy. */
ddp_status ddp_file_copy(const char *to, const char *from, ddp_error *err) DDP_MUST_CHECK;

/* Bring back a removed file that fd still has open for writing. If nothing is at path, copy fd's
 * bytes to path, and let fd write to the copy from then on. If something is at path, or a step
 * fails, fd stays as it is; after a failure a copy may be at path all the same. */
void ddp_file_bring_back(const char *path, int fd);

/* Return 1 if both paths lead to one existing file, by whatever names. */
int ddp_file_is_same(const char *a, const char *b);

/* Return 1 if the file at path was modified after `than`, or is not there. */
int ddp_file_is_younger(const char *path, const struct timespec *than);

#endif
