#include "cli/commands.h"
#include "show/rank_output.h"

network *ddp_command_load(ddp_network_shape *shape, const char *cfg, const ddp_options *options,
                          int gpu)
{
    const ddp_cfg_value values[] = {
        {"width", options->width ? options->width : options->net_width},
        {"height", options->height ? options->height : options->net_height},
        {"batch", options->cfg_batch},
        {"subdivisions", options->subdivisions},
    };
    network *net;
    ddp_error err;

    ddp_rank_output_quiet();
    if (ddp_network_load(&net, shape, cfg, values, sizeof values / sizeof values[0], gpu, &err))
        ddp_rank_output_failure(&err);
    ddp_rank_output_errors_only();
    return net;
}
