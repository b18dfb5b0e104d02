#include "cli/commands.h"
#include "cli/report.h"
#include "glue/cfg.h"

#include <fcntl.h>
#include <unistd.h>

static network *parse_quietly(char *path)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    network *net;

    (void)fflush(stderr);
    (void)dup2(null, STDERR_FILENO);
    net = parse_network_cfg(path);
    (void)dup2(saved, STDERR_FILENO);
    (void)close(saved);
    (void)close(null);
    return net;
}

network *ddp_command_load(const char *cfg, const ddp_options *options)
{
    const ddp_cfg_value values[] = {
        {"width", options->width},
        {"height", options->height},
        {"batch", options->cfg_batch},
        {"subdivisions", options->subdivisions},
    };
    char path[DDP_CFG_PATH_BYTES];
    network *net;
    ddp_error err;
    int fd;

    if (ddp_cfg_with(cfg, values, sizeof values / sizeof values[0], path, &fd, &err))
        ddp_report_failure(&err);
    net = parse_quietly(path);
    (void)close(fd);
    return net;
}
