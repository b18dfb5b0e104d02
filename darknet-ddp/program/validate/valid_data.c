#include "validate/valid_data.h"

#include "base/file.h"
#include "base/path.h"
#include "check/lists.h"
#include "inputs/label_files.h"
#include "samples/transforms.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Find a picture's class: first in the file's name, as the loader does. */
static int find_class(const ddp_valid_data *d, const char *path)
{
    const char *const places[] = {ddp_path_name(path), path};

    for (int p = 0; p < 2; p++)
        for (int c = 0; c < d->set.classes; c++)
            if (strstr(places[p], d->names.all[c]))
                return c;
    return -1;
}

static ddp_status find_classes(ddp_valid_data *d, ddp_error *err)
{
    const char *labels = ddp_sections_find(&d->data, "labels");

    if (!labels)
        return ddp_fail(
            err, DDP_ERR_FORMAT,
            "no labels= in the .data file: a classifier wants it, a file with the names "
            "of its %d classes",
            d->set.classes);
    if (d->names.count < (size_t)d->set.classes)
        return ddp_fail(err, DDP_ERR_FORMAT, "labels=%.300s has %zu names for classes=%d", labels,
                        d->names.count, d->set.classes);
    d->class_of = calloc(d->set.count + 1, sizeof *d->class_of);
    if (!d->class_of)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu classes", d->set.count);
    for (size_t i = 0; i < d->set.count; i++) {
        d->class_of[i] = find_class(d, d->set.paths[i]);
        if (d->class_of[i] < 0)
            return ddp_fail(err, DDP_ERR_FORMAT,
                            "%.200s:%zu: no class of %.100s%s has a name that stands in %.250s",
                            ddp_sections_find(&d->data, "valid"), d->list.numbers[i], labels,
                            ddp_ends_with_blank(d->names.all[0]) ? ", whose names end with blanks,"
                                                                 : "",
                            d->set.paths[i]);
    }
    return DDP_OK;
}

static ddp_status read_names(ddp_valid_data *d, int is_classifier, ddp_error *err)
{
    const char *path = ddp_sections_find(&d->data, is_classifier ? "labels" : "names");

    if (path && ddp_names_read(&d->names, path, err))
        return err->code;
    return is_classifier ? find_classes(d, err) : DDP_OK;
}

ddp_status ddp_valid_data_read(ddp_valid_data *d, const char *data, int is_classifier,
                               ddp_error *err)
{
    const char *valid, *map, *classes;

    if (ddp_data_read(&d->data, data, err))
        return err->code;
    valid = ddp_sections_find(&d->data, "valid");
    if (!valid)
        return DDP_OK;
    classes = ddp_sections_find(&d->data, "classes");
    map = is_classifier ? NULL : ddp_sections_find(&d->data, "map");
    if (ddp_lines_read(&d->list, valid, err))
        return ddp_wrap(err, "valid=");
    d->set = (ddp_validation_set){.paths = d->list.all,
                                  .count = d->list.count,
                                  .list = valid,
                                  .lines = d->list.numbers,
                                  .labelled = calloc(d->list.count + 1, 1),
                                  .reported = calloc(d->list.count + 1, 1),
                                  .classes = ddp_sections_whole(&d->data, "classes", 20),
                                  .map = map ? ddp_map_read(map) : NULL};
    if (d->set.count == 0)
        return ddp_fail(err, DDP_ERR_FORMAT,
                        "valid=%s: no picture is listed there, a path in each line", valid);
    if (d->set.classes < 1)
        return ddp_fail(err, DDP_ERR_FORMAT, "classes=%s: there is nothing to validate", classes);
    if (!d->set.reported || !d->set.labelled)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %zu pictures", d->set.count);
    return read_names(d, is_classifier, err);
}

void ddp_valid_data_release(ddp_valid_data *d)
{
    ddp_sections_release(&d->data);
    ddp_lines_release(&d->list);
    ddp_lines_release(&d->names);
    free(d->class_of);
    free(d->set.map);
    free(d->set.reported);
    free(d->set.labelled);
}

uint64_t ddp_valid_data_hash_paths(const ddp_valid_data *d)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < d->set.count; i++)
        hash = XXH3_64bits_withSeed(d->set.paths[i], strlen(d->set.paths[i]) + 1, hash);
    return hash;
}

/* Return a hash of a picture's truth: a detector's label file, a classifier's class. */
static uint64_t hash_of_truth(const ddp_valid_data *d, size_t i)
{
    char path[DDP_LABEL_PATH_BYTES];
    uint64_t size, hash = 0;
    ddp_error ignored;
    size_t bytes;
    void *data;

    if (d->class_of)
        return (uint64_t)d->class_of[i];
    ddp_label_path(d->set.paths[i], path);
    if (ddp_file_read(path, SIZE_MAX, &data, &bytes, &size, &ignored) == DDP_OK) {
        hash = XXH3_64bits(data, bytes);
        free(data);
    }
    return hash;
}

uint64_t ddp_valid_data_hash_contents(const ddp_valid_data *d)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < d->set.count; i++) {
        const char *name = ddp_path_name(d->set.paths[i]);

        sum += XXH3_64bits_withSeed(name, strlen(name), hash_of_truth(d, i));
    }
    return sum;
}
