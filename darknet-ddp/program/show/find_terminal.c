#include "show/find_terminal.h"

#include "base/tty.h"
#include "launch/child.h"
#include "launch/mpirun.h"
#include "launch/supervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Open what a descriptor of mpirun, or of what started that, leads to, if it is a terminal; else
 * return -1. The caller closes it. */
static int open_of_launcher(int theirs)
{
    int starter = (int)ddp_child_starter(), fd;
    char link[64], path[256], ours[256] = "";
    ssize_t n;

    (void)snprintf(link, sizeof link, "/proc/%d/fd/%d", starter > 0 ? starter : (int)getppid(),
                   theirs);
    n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return -1;
    path[n] = 0;
    (void)!ttyname_r(STDOUT_FILENO, ours, sizeof ours);
    if (strcmp(ours, path) == 0 || strncmp(path, "/dev/", 5) != 0)
        return -1;
    fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && !ddp_tty_erases(fd)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

/* An error for the process that started mpirun must come as standard error: launch/output_relay.h
 * reads it. */
ddp_terminal_place ddp_find_terminal(ddp_launcher launcher)
{
    ddp_terminal_place place = {.terminal = -1};
    int error;

    if (!ddp_launched(launcher)) {
        place.terminal = ddp_tty_erases(STDOUT_FILENO) ? STDOUT_FILENO : -1;
        place.joined = ddp_tty_is_one(STDOUT_FILENO, STDERR_FILENO);
        return place;
    }
    if (ddp_mpirun_holds_lines())
        return place;
    place.terminal = ddp_tty_erases(STDOUT_FILENO) ? open_of_launcher(STDOUT_FILENO) : -1;
    error = open_of_launcher(STDERR_FILENO);
    place.joined = !ddp_supervisor_is_ours() && ddp_tty_is_one(place.terminal, error);
    if (error >= 0)
        (void)close(error);
    return place;
}

const char *ddp_terminal_erasing(ddp_launcher launcher)
{
    int error =
        launcher.rank > 0 && !ddp_supervisor_is_ours() ? open_of_launcher(STDERR_FILENO) : -1;

    if (error < 0)
        return "";
    (void)close(error);
    return DDP_TTY_ERASE;
}
