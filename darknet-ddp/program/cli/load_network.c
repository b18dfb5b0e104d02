#include "cli/commands.h"
#include "show/rank_output.h"

network *ddp_command_load(ddp_network_shape *shape, const char *cfg, const ddp_options *options,
                          int gpu, int draws)
{
    const ddp_net_number numbers[] = {
        {"width", options->width ? options->width : options->net_width},
        {"height", options->height ? options->height : options->net_height},
        {"batch", options->cfg_batch},
        {"subdivisions", options->subdivisions},
    };
    network *net;

    ddp_rank_output_hide_errors();
    net = ddp_network_load(shape, cfg, numbers, sizeof numbers / sizeof numbers[0], gpu, draws);
    ddp_rank_output_show_errors();
    return net;
}
