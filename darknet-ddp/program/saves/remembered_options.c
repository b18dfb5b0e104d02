#include "saves/remembered_options.h"

#include "samples/transforms.h"

#include <string.h>

/* The names of columns in the table. */
enum {
    AGREE = DDP_OPTION_AGREE,
    RESULTS = DDP_OPTION_RESULTS,
    ROUNDING = DDP_OPTION_ROUNDING,
    BY_RANKS = DDP_OPTION_BY_RANKS,
    ON_GPU = DDP_OPTION_ON_GPU,
    USUAL = DDP_OPTION_USUAL
};

/* A byte for each thing that a run may have to remember: all of the table that has a column for it,
 * a hash for each of Darknet's three kinds of data files ("labels", "tree", "map"), the device, the
 * decoder of pictures and what is validated on. */
struct remembered {
    char data_files[3], device[1], picture_decoder[1], valid[1];
#define ROW(kind, field, name, argument, low, high, fallback, shown, scope, columns, meaning)      \
    char field[!!((columns)&RESULTS) + !!((columns)&ROUNDING)];
#define GROUP(field, title, guide)
#include "options/options.def"
#undef GROUP
#undef ROW
};

_Static_assert(sizeof(struct remembered) <= DDP_CHECKPOINT_OPTIONS,
               "the options table has more to remember than a state file has room for: let "
               "DDP_CHECKPOINT_OPTIONS (checkpoint/checkpoint.h) grow");

static ddp_status add_column(ddp_checkpoint_run *run, ddp_checkpoint_metadata *metadata,
                             const ddp_options *options, unsigned column, int ranks, ddp_error *err)
{
    ddp_option_value values[DDP_OPTION_VALUES];
    int on_gpus = !ddp_device_is_host(run->device);
    int count = ddp_options_list(options, column, on_gpus, ranks, values);

    for (int i = 0; i < count; i++) {
        if (ddp_checkpoint_add_option(metadata, values[i].name, values[i].value, err))
            return err->code;
        run->is_default[metadata->option_count - 1] = values[i].is_default;
    }
    return DDP_OK;
}

ddp_status ddp_remember_options(ddp_checkpoint_run *run, const ddp_options *options, int ranks,
                                const ddp_data_files *inputs, const char *valid, ddp_error *err)
{
    const char *device = ddp_device_is_host(run->device) ? "CPU" : "GPU";
    ddp_checkpoint_metadata metadata = {0};
    size_t results;

    if (add_column(run, &metadata, options, RESULTS, ranks, err)
        || ddp_data_files_remember(inputs, &metadata, err))
        return err->code;
    results = metadata.option_count;
    if (ddp_checkpoint_add_option(&metadata, "device", device, err)
        || add_column(run, &metadata, options, ROUNDING, ranks, err)
        || ddp_checkpoint_add_option(&metadata, "picture_decoder", ddp_picture_decoders(), err))
        return err->code;
    run->before[metadata.option_count - 1] = "stb_image"; /* before this was kept */
    run->rounding_count = metadata.option_count - results;
    if (ddp_checkpoint_add_option(&metadata, "valid", valid, err))
        return err->code;
    run->told_count = 1;
    run->same_rounding = options->exact;
    run->option_count = metadata.option_count;
    memcpy(run->options, metadata.options, sizeof metadata.options);
    return DDP_OK;
}
