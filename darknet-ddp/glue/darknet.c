#include "glue/darknet.h"

#include <darknet.h>

static void (*show_line)(const ddp_position *now, const char *line);

static void show(network *net, const char *line)
{
    ddp_position now = ddp_position_of(net);

    show_line(&now, line);
}

void ddp_darknet_configure(const ddp_darknet_config *config)
{
    cuda_fp32_only = config->fp32;
    cuda_deterministic = config->deterministic;
    gemm_any_threads = config->any_threads;
    cfg_allow_unknown_keys = config->allow_unknown_keys;
    weights_force = config->weights_force;
    labels_required = config->labels_required;
    train_loader_threads = config->loader_threads;
    train_verbose = config->verbose;
    show_line = config->line;
    train_line_handler = config->line ? show : NULL;
    if (config->fatal)
        fatal_handler = config->fatal;
}

const char *ddp_shared_path(const char *path)
{
    return shared_path((char *)path);
}
