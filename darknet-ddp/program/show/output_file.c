#include "show/output_file.h"

#include "show/rank_output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *path, int number) __attribute__((noreturn));

static void fail(const char *path, int number)
{
    ddp_error err;

    (void)ddp_fail(&err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(number));
    ddp_rank_output_failure(&err);
}

FILE *ddp_output_file_open(const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;

    if (path && !file)
        fail(path, errno);
    return file;
}

void ddp_output_file_close(FILE *file, const char *path)
{
    struct stat info;
    int failed, number, is_file;

    if (!file)
        return;
    is_file = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode); /* no device */
    failed = ferror(file) || fflush(file);
    number = errno;
    if (fclose(file) && !failed) {
        failed = 1;
        number = errno;
    }
    if (!failed)
        return;
    if (is_file)
        (void)unlink(path);
    fail(path, number);
}
