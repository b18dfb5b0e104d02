/* base/file.h: reads and copies files, and writes a file so that it is there whole or not at all.
 *
 *  1. ddp_file_create makes a new file, PATH.part-<8 hex digits>, the part; the caller fills it.
 *  2. ddp_file_finish waits until all of the part is on the disk, and reads it back to compare.
 *  3. ddp_file_publish renames the part to PATH.
 *
 * If the process dies before 3, the old PATH is as it was. Several files can be finished before the
 * first is published. Several processes may write the same PATH at a time: each has its own part,
 * and the last to publish wins. Where files can be locked (flock), a part is locked while its
 * writer lives. When the writer has died, the same user's next ddp_file_create of PATH, or
 * ddp_file_remove_dead_parts, removes the part. Hashes are XXH3, 64 bit. */
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
    uint64_t hash;
} ddp_file_checksum;

/* Make a part for the file at path. *out is set on success; end it with ddp_file_publish or
 * ddp_file_abandon. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_create(ddp_file **out, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Remove parts that this user's processes left in the folder of path when they died. A part
 * FILE.part-... is removed if is_meant("FILE", the last component of path) is not 0. Locked parts
 * stay, since their writers live. Where files cannot be locked, all parts stay. */
void ddp_file_remove_dead_parts(const char *path,
                                int (*is_meant)(const char *file, const char *of));

/* Return the stream to write to; f owns it. Its writes never fail: if the system refuses one, all
 * later ones are lost, and ddp_file_finish reports the error. */
FILE *ddp_file_stream(ddp_file *f);

/* Return size and hash of all that was written to the stream so far. */
ddp_file_checksum ddp_file_written(ddp_file *f);

/* Return 1 if the system has refused a write, so that the file can only be abandoned. */
int ddp_file_has_failed(const ddp_file *f);

/* Flush and fsync the part, and read it back. *sum becomes its size and hash. Nothing may be
 * written afterwards. Fails with DDP_ERR_IO, whose text says why (the disk is full, a quota is
 * reached), and DDP_ERR_NOMEM; then abandon f. */
ddp_status ddp_file_finish(ddp_file *f, ddp_file_checksum *sum, ddp_error *err) DDP_MUST_CHECK;

/* Close and remove the part, and free f. NULL is allowed. */
void ddp_file_abandon(ddp_file *f);

/* Rename the finished part to its path, and free f in any case. *renamed becomes 1 if that was
 * done, even if the fsync after it failed; else 0, and the part is removed. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. */
ddp_status ddp_file_publish(ddp_file *f, int *renamed, ddp_error *err) DDP_MUST_CHECK;

/* Rename a file within its directory, and fsync the directory, so that the name lasts. A file or
 * link at `to` is replaced. *renamed becomes 1 if the rename was done, even if the fsync failed;
 * else 0. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_rename(const char *from, const char *to, int *renamed,
                           ddp_error *err) DDP_MUST_CHECK;

/* Fsync the directory of path, so that names in it last. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_sync_directory(const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Read a regular file, but at most its first `most` bytes. *data becomes the *bytes bytes read, and
 * a zero byte behind them; NULL on failure. The caller frees it. *size becomes the size of the
 * whole file. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_read(const char *path, size_t most, void **data, size_t *bytes, uint64_t *size,
                         ddp_error *err) DDP_MUST_CHECK;

/* Open a regular file for reading, and set *size to its size in bytes. The caller closes *fd, which
 * is -1 on failure. Fails with DDP_ERR_IO. */
ddp_status ddp_file_open(const char *path, int *fd, uint64_t *size, ddp_error *err) DDP_MUST_CHECK;

/* Read a file and set *sum to its size and hash. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_checksum_of(const char *path, ddp_file_checksum *sum,
                                ddp_error *err) DDP_MUST_CHECK;

/* Make the file `to` a copy of the file `from`; an old file `to` is replaced. Fails with
 * DDP_ERR_IO, DDP_ERR_NOMEM. After a failure `to` is as it was or, if only the fsync of its
 * directory failed, the copy. */
ddp_status ddp_file_copy(const char *to, const char *from, ddp_error *err) DDP_MUST_CHECK;

/* Write all of data[0..bytes) to the descriptor fd. Return 0, or the errno of what failed; a part
 * may be written then. */
int ddp_file_write_all(int fd, const char *data, size_t bytes);

/* Bring back a removed file that fd still has open for writing: copy its bytes to path, and make fd
 * write to the copy. Its offset becomes 0; O_APPEND stays. Does nothing if there is something at
 * path. Errors are not reported: fd then stays as it is, and a copy may be at path. */
void ddp_file_bring_back(const char *path, int fd);

/* Return 1 if both paths lead to one existing file, by whatever names. */
int ddp_file_is_same(const char *a, const char *b);

/* Return 1 if the file at path was modified after `than`, or is not there. */
int ddp_file_is_younger(const char *path, const struct timespec *than);

#endif
