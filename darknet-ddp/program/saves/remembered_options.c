#include "saves/remembered_options.h"

#include "options/columns.h"
#include "samples/transforms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A byte for each thing that a run may have to remember: all of the table that has a column for it,
 * a hash for each of Darknet's three kinds of data files ("labels", "tree", "map"), the device, the
 * decoder of pictures, what is validated on and since when, how many pictures have no labels. */
struct remembered {
    char data_files[3], device[1], picture_decoder[1], valid[2], unlabelled[1];
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
    ddp_option_value values[DDP_OPTION_ROWS];
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
                                const ddp_data_files *inputs, ddp_error *err)
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
    run->same_rounding = options->exact;
    run->option_count = metadata.option_count;
    memcpy(run->options, metadata.options, sizeof metadata.options);
    return DDP_OK;
}

static const char *find_option(const ddp_checkpoint_metadata *metadata, const char *name)
{
    for (size_t i = 0; i < metadata->option_count; i++)
        if (strcmp(metadata->options[i].name, name) == 0)
            return metadata->options[i].value;
    return NULL;
}

/* Add a fact that is recorded only: a run may go on whatever its value was. */
static ddp_status add_option(ddp_checkpoint_run *run, const char *name, const char *value,
                             ddp_error *err)
{
    ddp_checkpoint_metadata metadata = {.option_count = run->option_count};

    memcpy(metadata.options, run->options, sizeof run->options);
    if (ddp_checkpoint_add_option(&metadata, name, value, err))
        return err->code;
    memcpy(run->options, metadata.options, sizeof metadata.options);
    run->option_count = metadata.option_count;
    return DDP_OK;
}

ddp_status ddp_remember_validation(ddp_checkpoint_run *run, uint64_t *since,
                                   const ddp_checkpoint_metadata *was, const char *valid,
                                   ddp_error *err)
{
    const char *before = find_option(was, "valid"), *began = find_option(was, "valid_since");
    char text[24];

    *since = began ? strtoull(began, NULL, 10) : 0;
    if (before && valid && strcmp(before, valid) != 0)
        *since = was->step;
    if (!valid && !before)
        return DDP_OK;
    (void)snprintf(text, sizeof text, "%" PRIu64, *since);
    return add_option(run, "valid", valid ? valid : before, err)
                   || add_option(run, "valid_since", text, err)
               ? err->code
               : DDP_OK;
}

/* ---- labels ---- */

static size_t count_unlabelled(const char *has, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += !has[i];
    return count;
}

ddp_status ddp_remember_unlabelled(ddp_checkpoint_run *run, const char *has, size_t n,
                                   ddp_error *err)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%zu", count_unlabelled(has, n));
    return add_option(run, "unlabelled", text, err);
}

ddp_status ddp_recall_unlabelled(const ddp_checkpoint_metadata *was, char *has, size_t n,
                                 ddp_error *err)
{
    const char *text = find_option(was, "unlabelled");
    size_t before = text ? strtoull(text, NULL, 10) : 0, now = count_unlabelled(has, n);

    if (!text || now <= before)
        return DDP_OK;
    if (before > 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%zu of %zu pictures have no label file, and %zu had none when the run "
                        "began: mend that and resume, or -resume_force takes all of them for "
                        "pictures without objects",
                        now, n, before);
    printf(
        "DDP: %zu of %zu pictures have no label file any more, and cannot be read; -resume_force "
        "takes them for pictures without objects\n",
        now, n);
    memset(has, 1, n);
    return DDP_OK;
}
