#include "cli/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    ddp_group *group;
    int error_fd; /* the real standard error */
} state = {.error_fd = STDERR_FILENO};

static void close_off(int fd)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null < 0)
        return; /* louder than it should be, and no reason to stop */
    (void)dup2(null, fd);
    (void)close(null);
}

void ddp_report_open(ddp_group *group)
{
    int saved;

    state.group = group;
    /* mpirun makes the output a pipe: lines must not wait for a full block. */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (!group || ddp_group_rank(group) == 0)
        return;
    (void)fflush(NULL);
    saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved >= 0)
        state.error_fd = saved;
    close_off(STDOUT_FILENO);
    close_off(STDERR_FILENO);
}

void ddp_report_errors_only(void)
{
    if (state.error_fd == STDERR_FILENO)
        return;
    (void)dup2(state.error_fd, STDERR_FILENO);
}

void ddp_report_fatal(int exit_status, const char *message)
{
    (void)fflush(NULL);
    if (state.group && ddp_group_size(state.group) > 1) {
        int rank = ddp_group_rank(state.group);

        (void)dprintf(state.error_fd, "darknet[rank %d @ %s]: %s\n", rank,
                      ddp_group_host(state.group, rank), message);
    } else {
        (void)dprintf(state.error_fd, "darknet: %s\n", message);
    }
    if (state.group)
        ddp_group_abort(state.group, exit_status);
    _exit(exit_status);
}

void ddp_report_failure(const ddp_error *err)
{
    int status = err->code == DDP_ERR_USAGE ? 2 : 1;

    ddp_report_fatal(status, err->text);
    _exit(status);
}
