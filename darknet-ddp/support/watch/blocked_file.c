#include "watch/blocked_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* System calls, and which of their arguments is a file: a path or a descriptor. */
static const struct {
    long number;
    int argument;
    int is_path;
} calls[] = {
#ifdef SYS_open /* not there on every processor */
    {SYS_open, 0, 1},       {SYS_stat, 0, 1},    {SYS_lstat, 0, 1},      {SYS_access, 0, 1},
    {SYS_unlink, 0, 1},     {SYS_rename, 0, 1},  {SYS_mkdir, 0, 1},      {SYS_readlink, 0, 1},
#endif
#ifdef SYS_newfstatat
    {SYS_newfstatat, 1, 1},
#endif
#ifdef SYS_faccessat2
    {SYS_faccessat2, 1, 1},
#endif
    {SYS_openat, 1, 1},     {SYS_statx, 1, 1},   {SYS_faccessat, 1, 1},  {SYS_unlinkat, 1, 1},
    {SYS_renameat2, 1, 1},  {SYS_mkdirat, 1, 1}, {SYS_readlinkat, 1, 1}, {SYS_read, 0, 0},
    {SYS_pread64, 0, 0},    {SYS_readv, 0, 0},   {SYS_write, 0, 0},      {SYS_pwrite64, 0, 0},
    {SYS_writev, 0, 0},     {SYS_fsync, 0, 0},   {SYS_fdatasync, 0, 0},  {SYS_ftruncate, 0, 0},
    {SYS_close, 0, 0},      {SYS_fstat, 0, 0},   {SYS_flock, 0, 0},      {SYS_fcntl, 0, 0},
    {SYS_getdents64, 0, 0},
};

enum { ARGUMENTS = 3, CALLS = sizeof calls / sizeof calls[0] };

/* Read a text of this process at an address, which may be gone by now. */
static void read_text(uint64_t address, char *out, size_t size)
{
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;

    /* Read to the end of a page first: the next page may not be there. */
    if (memory >= 0) {
        size_t page = 4096 - (size_t)(address % 4096), most = size - 1;

        n = pread(memory, out, most < page ? most : page, (off_t)address);
        if (n > 0 && (size_t)n == page && !memchr(out, '\0', (size_t)n) && most > page) {
            ssize_t more = pread(memory, out + n, most - page, (off_t)(address + page));

            n += more > 0 ? more : 0;
        }
        (void)close(memory);
    }
    out[n > 0 ? n : 0] = '\0';
}

static void path_of_descriptor(uint64_t fd, char *out, size_t size)
{
    char link[64];
    ssize_t n;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", (int)fd);
    n = readlink(link, out, size - 1);
    out[n > 0 && out[0] == '/' ? n : 0] = '\0'; /* else it is a pipe or a socket */
}

static int is_none(const char *path)
{
    return !path[0] || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0
           || strncmp(path, "/sys/", 5) == 0;
}

/* Write the path that a thread waits for to out. thread: its name in /proc/self/task. */
static void file_of(const char *thread, char *out, size_t size)
{
    char path[320];
    uint64_t argument[ARGUMENTS] = {0};
    long number = -1;
    FILE *f;

    out[0] = '\0';
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/syscall", thread);
    f = fopen(path, "re");
    if (!f)
        return;
    if (fscanf(f, "%ld", &number) != 1) /* the thread runs */
        number = -1;
    for (int i = 0; number >= 0 && i < ARGUMENTS; i++)
        if (fscanf(f, "%lx", &argument[i]) != 1)
            number = -1;
    (void)fclose(f);
    for (int i = 0; i < CALLS; i++)
        if (calls[i].number == number && calls[i].is_path)
            read_text(argument[calls[i].argument], out, size);
        else if (calls[i].number == number)
            path_of_descriptor(argument[calls[i].argument], out, size);
    if (is_none(out))
        out[0] = '\0';
}

void ddp_blocked_file(char *out, size_t size)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *thread;

    out[0] = '\0';
    while (threads && !out[0] && (thread = readdir(threads)))
        if (thread->d_name[0] != '.' && strtol(thread->d_name, NULL, 10) != gettid())
            file_of(thread->d_name, out, size);
    if (threads)
        (void)closedir(threads);
}
