/* Checks that a state file's arrays and a weights file have only finite numbers, and reads a
 * weights file's count of images. Arrays that are not in memory are read block by block. */
#include "base/is_finite.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/match.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ddp_status ddp_checkpoint_fail_not_finite(const ddp_checkpoint_array *array, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_FORMAT, "%s of layer %d's %s has a number that is not finite",
                    array->name, array->layer, array->part);
}

/* Checks an array that is not in memory, block by block as its source gives it. */
static ddp_status check_source(const ddp_checkpoint *c, size_t i, ddp_error *err)
{
    const ddp_checkpoint_array *array = &c->arrays[i];
    float *block = malloc(DDP_CHECKPOINT_BLOCK * sizeof *block);
    ddp_status st =
        block ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory to check a checkpoint");

    for (size_t at = 0, n; at < array->count && !st; at += n) {
        n = array->count - at < DDP_CHECKPOINT_BLOCK ? array->count - at : DDP_CHECKPOINT_BLOCK;
        st = ddp_checkpoint_get(c, i, at, block, n, err);
        if (!st && !ddp_all_finite(block, n))
            st = ddp_checkpoint_fail_not_finite(array, err);
    }
    free(block);
    return st;
}

ddp_status ddp_checkpoint_check_finite(const ddp_checkpoint *c, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < c->array_count && !st; i++) {
        const ddp_checkpoint_array *array = &c->arrays[i];

        if (array->data)
            st = ddp_all_finite(array->data, array->count)
                     ? DDP_OK
                     : ddp_checkpoint_fail_not_finite(array, err);
        else if (c->source)
            st = check_source(c, i, err);
    }
    return st;
}

/* ---- the weights ---- */

/* Weights files of Darknet: int32 major, minor, revision; images seen, of 8 bytes from version 0.2
 * on, of 4 before; floats. */
enum { BLOCK = 1 << 16, HEADER = 16, HEADER_2 = 20 };

static size_t header_of(const int32_t version[3])
{
    int64_t number = (int64_t)version[0] * 10 + version[1];

    return number >= 2 && version[0] < 1000 && version[1] < 1000 ? HEADER_2 : HEADER;
}

uint64_t ddp_match_images_seen(const char *weights)
{
    FILE *fp = fopen(weights, "rbe");
    int32_t version[3];
    unsigned char seen[HEADER_2 - sizeof version] = {0}; /* of 4 bytes the lower half */
    uint64_t images = 0;

    if (fp && fread(version, sizeof version, 1, fp) == 1) {
        size_t bytes = header_of(version) - sizeof version;

        if (fread(seen, bytes, 1, fp) == 1)
            memcpy(&images, seen, sizeof images);
    }
    if (fp)
        (void)fclose(fp);
    return images;
}

static ddp_status check(const char *path, FILE *fp, ddp_error *err)
{
    int32_t version[3];
    float block[BLOCK / sizeof(float)];
    size_t count;

    if (fread(version, sizeof version, 1, fp) == 1
        && fseek(fp, (long)header_of(version), SEEK_SET) == 0)
        while ((count = fread(block, sizeof *block, BLOCK / sizeof *block, fp)) > 0)
            if (!ddp_all_finite(block, count))
                return ddp_fail(err, DDP_ERR_FORMAT, "%s has a number that is not finite", path);
    if (ferror(fp))
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    return DDP_OK;
}

ddp_status ddp_match_check_finite(const char *weights, ddp_error *err)
{
    FILE *fp = fopen(weights, "rbe");
    ddp_status st;

    if (!fp)
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", weights, strerror(errno));
    st = check(weights, fp, err);
    (void)fclose(fp);
    return st;
}
