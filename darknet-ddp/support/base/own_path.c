#include "base/own_path.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int ddp_own_path(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval gives a pointer as a number */
    const char *started_as = (const char *)getauxval(AT_EXECFN);

    path[length > 0 ? length : 0] = '\0';
    if (length > 0 || (started_as && realpath(started_as, path)))
        return 0;
    path[0] = '\0';
    return -1;
}
