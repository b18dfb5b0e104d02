#include "inputs/label_files.h"

#include "samples/transforms.h"

#include <sys/stat.h>

/* The size of the picture's label file; -1: it has none. */
static off_t size_of(const char *picture)
{
    char path[DDP_LABEL_PATH_BYTES];
    struct stat info;

    ddp_label_path(picture, path);
    return stat(path, &info) ? -1 : info.st_size;
}

int ddp_label_files_has(const char *picture)
{
    return size_of(picture) >= 0;
}

ddp_status ddp_label_files_none(const char *picture, ddp_error *err)
{
    char path[DDP_LABEL_PATH_BYTES];

    ddp_label_path(picture, path);
    return ddp_fail(err, DDP_ERR_FORMAT,
                    "no picture has a label file; that of %s would be %s. Pictures without objects "
                    "have empty ones, where that is meant",
                    picture, path);
}

static ddp_status find_missing(char *const *paths, size_t n, ddp_error *err)
{
    const char *first = NULL;
    size_t missing = 0;

    for (size_t i = n; i-- > 0;)
        if (size_of(paths[i]) < 0) {
            first = paths[i];
            missing++;
        }
    if (!first)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_FORMAT,
                    "%zu of %zu pictures have no label file, %s for one, and -labels_required is "
                    "given",
                    missing, n, first);
}

ddp_status ddp_label_files_find(char *const *paths, size_t n, int required, int *all_empty,
                                ddp_error *err)
{
    int some = 0;

    *all_empty = 0;
    if (required && find_missing(paths, n, err))
        return err->code;
    for (size_t i = 0; i < n; i++) {
        off_t size = size_of(paths[i]);

        if (size > 0)
            return DDP_OK;
        some |= size == 0;
    }
    *all_empty = some;
    return n == 0 || some ? DDP_OK : ddp_label_files_none(paths[0], err);
}
