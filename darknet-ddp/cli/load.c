#include "cli/commands.h"
#include "cli/report.h"
#include "glue/cfg.h"

#include <string.h>
#include <unistd.h>

/* While a cfg is parsed: its name, and that of the copy which Darknet reads. */
static const char *cfg_name, *copy_name;

/* A fatal_handler that puts the cfg's name where Darknet names the copy. */
static void fail_with_cfg_name(int exit_status, const char *message)
{
    const char *place = strstr(message, copy_name);
    char text[8192];

    if (!place)
        ddp_report_fatal(exit_status, message);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(place - message), message, cfg_name,
                   place + strlen(copy_name));
    ddp_report_fatal(exit_status, text);
}

static network *parse_quietly(const char *cfg, char *copy, int gpu)
{
    network *net;

    cfg_name = cfg;
    copy_name = copy;
    fatal_handler = fail_with_cfg_name;
    ddp_report_quiet();
    gpu_index = gpu;
    net = parse_network_cfg(copy);
    ddp_report_errors_only();
    fatal_handler = ddp_report_fatal;
    return net;
}

network *ddp_command_load(const char *cfg, const ddp_options *options, int gpu)
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
    net = parse_quietly(cfg, path, gpu);
    (void)close(fd);
    return net;
}
