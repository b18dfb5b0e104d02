#include "inputs/data_files.h"

#include "base/file.h"
#include "core/agree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct ddp_input {
    char *what, *path;
    uint64_t hash;
};

static ddp_status no_memory(const char *path, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", path);
}

ddp_status ddp_data_files_add(ddp_data_files *in, const char *what, const char *path,
                              ddp_error *err)
{
    struct ddp_input *list = reallocarray(in->list, in->count + 1, sizeof *list);
    struct ddp_input *input;
    ddp_file_checksum sum;

    if (!list)
        return no_memory(path, err);
    in->list = list;
    if (ddp_file_checksum_of(path, &sum, err))
        return err->code;
    input = &list[in->count++];
    *input = (struct ddp_input){strdup(what), strdup(path), sum.hash};
    return input->what && input->path ? DDP_OK : no_memory(path, err);
}

ddp_status ddp_data_files_agree(const ddp_data_files *in, ddp_group *group, ddp_error *err)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    ddp_status st;

    if (!f)
        return no_memory("what ranks compare", err);
    for (size_t i = 0; i < in->count; i++)
        (void)fprintf(f, "%s of %s: contents %016" PRIx64 "\n", in->list[i].what, in->list[i].path,
                      in->list[i].hash);
    if (fclose(f)) {
        free(text);
        return no_memory("what ranks compare", err);
    }
    st = ddp_agree(group, text, err);
    free(text);
    return st;
}

/* Is input i the first of its kind? */
static int is_first(const ddp_data_files *in, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(in->list[k].what, in->list[i].what) == 0)
            return 0;
    return 1;
}

ddp_status ddp_data_files_remember(const ddp_data_files *in, ddp_checkpoint_metadata *metadata,
                                   ddp_error *err)
{
    for (size_t i = 0; i < in->count; i++) {
        const char *what = in->list[i].what;
        char value[DDP_CHECKPOINT_VALUE_BYTES];
        uint64_t hash = 0;

        if (!is_first(in, i))
            continue;
        for (size_t k = i; k < in->count; k++)
            if (strcmp(in->list[k].what, what) == 0)
                hash = XXH3_64bits_withSeed(&in->list[k].hash, sizeof hash, hash);
        (void)snprintf(value, sizeof value, "contents %016" PRIx64, hash);
        if (ddp_checkpoint_add_option(metadata, what, value, err))
            return err->code;
    }
    return DDP_OK;
}

void ddp_data_files_release(ddp_data_files *in)
{
    for (size_t i = 0; i < in->count; i++) {
        free(in->list[i].what);
        free(in->list[i].path);
    }
    free(in->list);
    *in = (ddp_data_files){0};
}
