#include "launch/mpirun_names.h"

#include "base/path.h"

#include <string.h>

/* An ending does not count: Debian has mpirun.openmpi. */
static int is_one_of(const char *const *names, const char *program)
{
    const char *name = ddp_path_name(program);
    const size_t n = strcspn(name, ".");

    while (*names && (strlen(*names) != n || strncmp(name, *names, n) != 0))
        names++;
    return *names != NULL;
}

int ddp_mpirun_is_name(const char *program)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", NULL};

    return is_one_of(names, program);
}

int ddp_mpirun_is_daemon_name(const char *program)
{
    static const char *const names[] = {"orted", "prted", NULL};

    return is_one_of(names, program);
}
