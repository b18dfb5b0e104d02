#include "base/tty.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ddp_tty_erases(int fd)
{
    const char *kind = getenv("TERM");

    return kind && *kind && strcmp(kind, "dumb") != 0 && isatty(fd);
}

int ddp_tty_is_one(int a, int b)
{
    struct stat one, other;

    return ddp_tty_erases(a) && ddp_tty_erases(b) && !fstat(a, &one) && !fstat(b, &other)
           && one.st_rdev == other.st_rdev;
}
