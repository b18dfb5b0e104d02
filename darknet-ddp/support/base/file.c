#include "base/file.h"

#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { BLOCK_BYTES = 1 << 20 };

struct ddp_file {
    char *path;
    char *part; /* path of the file that is written */
    int fd;
    int failed; /* errno of the first write that was refused */
    FILE *stream;
    char *block; /* the stream's buffer */
    XXH3_state_t *hash;
    uint64_t bytes;
};

static ddp_status no_memory(const char *path, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
}

/* ---- parts: PATH, part_mark and DIGITS of a number in hex ---- */

static const char part_mark[] = ".part-";

enum { DIGITS = 8, TRIES = 100 };

/* Return the folder of path, with the slash at its end; the caller frees it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
}

enum { MARK = sizeof part_mark - 1 };

static int ends_a_part(const char *text)
{
    return strncmp(text, part_mark, MARK) == 0 && strspn(text + MARK, "0123456789abcdef") == DIGITS
           && text[MARK + DIGITS] == 0;
}

static int is_same(const char *file, const char *of)
{
    return strcmp(file, of) == 0;
}

/* Return 1 if `name` is that of a part, and is_meant(its file's name, of). */
static int is_part(const char *name, int (*is_meant)(const char *file, const char *of),
                   const char *of)
{
    size_t length = strlen(name);
    char file[NAME_MAX + 1];

    if (length <= MARK + DIGITS || length > NAME_MAX || !ends_a_part(name + length - MARK - DIGITS))
        return 0;
    (void)snprintf(file, sizeof file, "%.*s", (int)(length - MARK - DIGITS), name);
    return is_meant(file, of);
}

static int is_own(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && info.st_uid == geteuid();
}

/* Remove a part whose writer died: it is not locked. Parts of other users stay, as do all where
 * files cannot be locked. */
static void remove_if_dead(const char *directory, const char *name)
{
    char *path;
    int fd;

    if (asprintf(&path, "%s%s", directory, name) < 0)
        return;
    fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && is_own(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(path);
    if (fd >= 0)
        (void)close(fd);
    free(path);
}

void ddp_file_remove_dead_parts(const char *path, int (*is_meant)(const char *file, const char *of))
{
    char *directory = directory_of(path);
    DIR *dir = directory ? opendir(directory) : NULL;
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL)
        if (is_part(entry->d_name, is_meant, ddp_path_name(path)))
            remove_if_dead(directory, entry->d_name);
    if (dir)
        (void)closedir(dir);
    free(directory);
}

/* Return 1 if the part fd has not been removed: between open and flock another process may take it
 * for a dead writer's. */
static int is_still_there(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

/* Open a new part of path, locked. Returns -1 with errno set if that fails. */
static int open_part(char *part, const char *path, size_t size)
{
    for (int i = 0; i < TRIES; i++) {
        unsigned number = 0;
        int fd;

        (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
        (void)snprintf(part, size, "%s%s%08x", path, part_mark, number);
        fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd < 0)
            continue;
        if ((flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_still_there(fd))
            return fd;
        (void)close(fd);
    }
    errno = EEXIST;
    return -1;
}

/* ---- phase one ---- */

int ddp_file_write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        data += n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* Write the stream's bytes. stdio would forget why a write failed, and Darknet would end the
 * program: so the reason is kept, and all bytes count as written. */
static ssize_t take(void *cookie, const char *data, size_t bytes)
{
    ddp_file *f = cookie;

    if (!f->failed)
        f->failed = ddp_file_write_all(f->fd, data, bytes);
    (void)XXH3_64bits_update(f->hash, data, bytes);
    f->bytes += bytes;
    return (ssize_t)bytes;
}

static void release(ddp_file *f)
{
    if (f->stream)
        (void)fclose(f->stream);
    if (f->fd >= 0)
        (void)close(f->fd);
    (void)XXH3_freeState(f->hash);
    free(f->block);
    free(f->part);
    free(f->path);
    free(f);
}

/* Allocate all memory of f. Returns 0 if there is none. */
static int get_memory(ddp_file *f, const char *path)
{
    f->path = strdup(path);
    f->part = malloc(strlen(path) + sizeof part_mark + DIGITS);
    f->hash = XXH3_createState();
    f->block = malloc(BLOCK_BYTES);
    f->stream = fopencookie(f, "w", (cookie_io_functions_t){.write = take});
    return f->path && f->part && f->hash && f->block && f->stream;
}

ddp_status ddp_file_create(ddp_file **out, const char *path, ddp_error *err)
{
    ddp_file *f = calloc(1, sizeof *f);

    *out = NULL;
    if (!f)
        return no_memory(path, err);
    f->fd = -1;
    if (!get_memory(f, path)) {
        release(f);
        return no_memory(path, err);
    }
    (void)XXH3_64bits_reset(f->hash);
    (void)setvbuf(f->stream, f->block, _IOFBF, BLOCK_BYTES);
    ddp_file_remove_dead_parts(path, is_same);
    f->fd = open_part(f->part, path, strlen(path) + sizeof part_mark + DIGITS);
    if (f->fd < 0) {
        (void)ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        release(f);
        return err->code;
    }
    *out = f;
    return DDP_OK;
}

FILE *ddp_file_stream(ddp_file *f)
{
    return f->stream;
}

ddp_file_checksum ddp_file_written(ddp_file *f)
{
    (void)fflush(f->stream);
    return (ddp_file_checksum){.bytes = f->bytes, .hash = XXH3_64bits_digest(f->hash)};
}

int ddp_file_has_failed(const ddp_file *f)
{
    return f->failed != 0;
}

ddp_status ddp_file_finish(ddp_file *f, ddp_file_checksum *sum, ddp_error *err)
{
    (void)fflush(f->stream);
    if (!f->failed && fsync(f->fd))
        f->failed = errno;
    if (f->failed)
        return ddp_fail(err, DDP_ERR_IO, "cannot write %s: %s", f->path, strerror(f->failed));
    if (ddp_file_checksum_of(f->part, sum, err))
        return err->code;
    if (sum->bytes != f->bytes || sum->hash != XXH3_64bits_digest(f->hash))
        return ddp_fail(err, DDP_ERR_IO, "%s does not read back as it was written", f->path);
    return DDP_OK;
}

void ddp_file_abandon(ddp_file *f)
{
    if (!f)
        return;
    (void)unlink(f->part);
    release(f);
}

/* ---- phase two ---- */

ddp_status ddp_file_publish(ddp_file *f, int *renamed, ddp_error *err)
{
    ddp_status st = ddp_file_rename(f->part, f->path, renamed, err);

    if (*renamed)
        release(f);
    else
        ddp_file_abandon(f);
    return st;
}

ddp_status ddp_file_rename(const char *from, const char *to, int *renamed, ddp_error *err)
{
    *renamed = rename(from, to) == 0;
    if (!*renamed)
        return ddp_fail(err, DDP_ERR_IO, "cannot rename %s to %s: %s", from, to, strerror(errno));
    return ddp_file_sync_directory(to, err);
}

ddp_status ddp_file_sync_directory(const char *path, ddp_error *err)
{
    char *directory = directory_of(path);
    int fd, failed;

    if (!directory)
        return no_memory(path, err);
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* EINVAL: a file system whose directories cannot be synced. */
    failed = fd < 0 || (fsync(fd) && errno != EINVAL);
    if (failed)
        (void)ddp_fail(err, DDP_ERR_IO, "cannot sync directory %s: %s", directory, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    free(directory);
    return failed ? DDP_ERR_IO : DDP_OK;
}

/* ---- reading ---- */

/* O_NONBLOCK: opening a pipe must not block. */
ddp_status ddp_file_open(const char *path, int *fd, uint64_t *size, ddp_error *err)
{
    struct stat info;
    ddp_status st = DDP_OK;

    *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &info))
        st = ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        st = ddp_fail(err, DDP_ERR_IO, "%s is no regular file", path);
    else
        *size = (uint64_t)info.st_size;
    if (st && *fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
    return st;
}

/* Read up to `bytes` bytes. Returns how many, fewer at the file's end, or -1. */
static ssize_t read_all(int fd, char *data, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = read(fd, data + done, bytes - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

ddp_status ddp_file_read(const char *path, size_t most, void **data, size_t *bytes, uint64_t *size,
                         ddp_error *err)
{
    int fd;
    ssize_t n = -1;
    char *block;

    *data = NULL;
    *bytes = 0;
    if (ddp_file_open(path, &fd, size, err))
        return err->code;
    if (*size < most)
        most = (size_t)*size;
    block = most < SIZE_MAX ? malloc(most + 1) : NULL;
    if (!block)
        (void)no_memory(path, err);
    else if ((n = read_all(fd, block, most)) < 0)
        (void)ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    (void)close(fd);
    if (n < 0) {
        free(block);
        return err->code;
    }
    block[n] = 0;
    *data = block;
    *bytes = (size_t)n;
    return DDP_OK;
}

static ssize_t sum_blocks(int fd, char *block, XXH3_state_t *hash, ddp_file_checksum *sum)
{
    ssize_t n;

    (void)XXH3_64bits_reset(hash);
    while ((n = read_all(fd, block, BLOCK_BYTES)) > 0) {
        (void)XXH3_64bits_update(hash, block, (size_t)n);
        sum->bytes += (uint64_t)n;
    }
    sum->hash = XXH3_64bits_digest(hash);
    return n;
}

ddp_status ddp_file_checksum_of(const char *path, ddp_file_checksum *sum, ddp_error *err)
{
    XXH3_state_t *hash = XXH3_createState();
    char *block = malloc(BLOCK_BYTES);
    ddp_status st = DDP_OK;
    uint64_t size;
    int fd = -1;

    *sum = (ddp_file_checksum){0};
    if (!hash || !block)
        st = no_memory(path, err);
    else if (ddp_file_open(path, &fd, &size, err))
        st = err->code;
    else if (sum_blocks(fd, block, hash, sum) < 0)
        st = ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    free(block);
    (void)XXH3_freeState(hash);
    return st;
}

static ddp_status copy_to(ddp_file *f, const char *from, ddp_error *err)
{
    FILE *in = fopen(from, "rbe");
    char block[1 << 16];
    size_t bytes;
    int failed;

    while (in && (bytes = fread(block, 1, sizeof block, in)) > 0)
        (void)fwrite(block, 1, bytes, f->stream);
    failed = !in || ferror(in);
    if (in)
        (void)fclose(in);
    return failed ? ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", from, strerror(errno)) : DDP_OK;
}

ddp_status ddp_file_copy(const char *to, const char *from, ddp_error *err)
{
    ddp_file_checksum sum;
    ddp_file *f;
    int renamed;

    if (ddp_file_create(&f, to, err))
        return err->code;
    if (copy_to(f, from, err) || ddp_file_finish(f, &sum, err)) {
        ddp_file_abandon(f);
        return err->code;
    }
    return ddp_file_publish(f, &renamed, err);
}

void ddp_file_bring_back(const char *path, int fd)
{
    char held[64];
    struct stat info;
    ddp_error ignored;
    int copy;

    (void)snprintf(held, sizeof held, "/proc/self/fd/%d", fd);
    if (lstat(path, &info) == 0 || errno != ENOENT || ddp_file_copy(path, held, &ignored))
        return;
    copy = open(path, O_WRONLY | O_CLOEXEC | (fcntl(fd, F_GETFL) & O_APPEND));
    if (copy < 0)
        return;
    (void)dup3(copy, fd, O_CLOEXEC);
    (void)close(copy);
}

int ddp_file_is_same(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int ddp_file_is_younger(const char *path, const struct timespec *than)
{
    struct stat now;

    if (stat(path, &now))
        return 1;
    return now.st_mtim.tv_sec > than->tv_sec
           || (now.st_mtim.tv_sec == than->tv_sec && now.st_mtim.tv_nsec > than->tv_nsec);
}
