/* base/file.h: files that are there whole or not at all.
 *
 * A file is written in two phases. Phase one writes PATH.part-<8 digits>, a new file that no link
 * leads to, and ends when all of it is on the disk and reads back as it was written. Phase two
 * renames it to PATH. A process that dies in between leaves the old PATH as it was. The phases are
 * apart so that several files can be complete before the first is renamed.
 *
 * Several may write the same PATH at a time: each has a part of its own, locked (flock) until it is
 * renamed or removed; the last to publish wins. Parts of PATH that no process has locked, because
 * their writer died, are removed when the next is created, and by ddp_file_remove_dead_parts.
 *
 * Hashes are XXH3, 64 bit.
 */
#ifndef DDP_BASE_FILE_H
#define DDP_BASE_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct ddp_file ddp_file;

typedef struct ddp_file_checksum {
    uint64_t bytes;
    uint64_t hash; /* of all of them */
} ddp_file_checksum;

/* Start to write PATH. *out is set on success; end it with ddp_file_publish or
 * ddp_file_abandon. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_create(ddp_file **out, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Remove what writers of this user that died have left of files in path's folder, of whose names
 * is_meant(name, path's last part) holds. */
void ddp_file_remove_dead_parts(const char *path,
                                int (*is_meant)(const char *file, const char *of));

/* Where to write; it belongs to the file. Writes to it never fail: what the system
 * refuses is kept until ddp_file_finish, and all that follows is dropped. */
FILE *ddp_file_stream(ddp_file *f);

/* Size and hash of what was written so far. */
ddp_file_checksum ddp_file_written(ddp_file *f);

/* Has the system refused to write something? Then nothing more of it is of use. */
int ddp_file_has_failed(const ddp_file *f);

/* Phase one ends: flush, fsync, read back. Nothing may be written from here on.
 * DDP_ERR_IO: the disk is full, a quota is reached, or the like; the text says which. */
ddp_status ddp_file_finish(ddp_file *f, ddp_file_checksum *sum, ddp_error *err) DDP_MUST_CHECK;

/* Close, remove the part and free f. NULL is allowed. */
void ddp_file_abandon(ddp_file *f);

/* Phase two, of a file that is finished: give it its name and make that last (as
 * ddp_file_rename). Frees f in any case; the part is gone. */
ddp_status ddp_file_publish(ddp_file *f, int *renamed, ddp_error *err) DDP_MUST_CHECK;

/* Rename a file within its directory and make that last (fsync of the directory). What
 * was at `to`, a link itself too, is replaced. *renamed tells, also on failure, whether
 * the rename was done. Fails with DDP_ERR_IO. */
ddp_status ddp_file_rename(const char *from, const char *to, int *renamed,
                           ddp_error *err) DDP_MUST_CHECK;

/* Make names in PATH's directory last. Fails with DDP_ERR_IO. */
ddp_status ddp_file_sync_directory(const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Read at most `most` bytes from the start of a regular file. *data is the caller's
 * to free, with a zero byte behind the last of *bytes, and NULL on failure; *size is
 * the whole file's. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_read(const char *path, size_t most, void **data, size_t *bytes, uint64_t *size,
                         ddp_error *err) DDP_MUST_CHECK;

/* Open a regular file to read. *fd is the caller's to close, -1 on failure; *size is in bytes.
 * Fails with DDP_ERR_IO. */
ddp_status ddp_file_open(const char *path, int *fd, uint64_t *size, ddp_error *err) DDP_MUST_CHECK;

/* Size and hash of a file as it is on the disk. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_file_checksum_of(const char *path, ddp_file_checksum *sum,
                                ddp_error *err) DDP_MUST_CHECK;

/* A copy of the file `from`, in place of what is at `to`. Fails with DDP_ERR_IO, DDP_ERR_NOMEM, and
 * then `to` is as it was. */
ddp_status ddp_file_copy(const char *to, const char *from, ddp_error *err) DDP_MUST_CHECK;

/* fd is open for writing, and was opened as path. Where nothing is there any more, since its folder
 * was removed or moved and is made again, say: a copy of all that it holds comes there, and fd
 * writes to that from here on. Else, and where that fails, nothing changes. */
void ddp_file_bring_back(const char *path, int fd);

/* Are both there, and one file, by whatever names? */
int ddp_file_is_same(const char *a, const char *b);

#endif
