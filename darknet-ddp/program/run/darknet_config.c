#include "run/darknet_config.h"

#include "show/layers.h"
#include "show/run_messages.h"

static void tell(const char *why)
{
    ddp_print_goes_on("%s", why);
}

ddp_darknet_config ddp_darknet_config_of(const ddp_options *options)
{
    return (ddp_darknet_config){.fp32 = options->fp32,
                                .deterministic = options->deterministic,
                                .allow_unknown_keys = options->allow_unknown_keys,
                                .weights_force = options->weights_force,
                                .labels_required = options->labels_required,
                                .loader_threads = options->threads,
                                .verbose = options->verbose,
                                .average_unsaved =
                                    options->on_save_error == DDP_SAVE_ERROR_CONTINUE ? tell : NULL,
                                .table = options->layers ? NULL : ddp_layers_show};
}
