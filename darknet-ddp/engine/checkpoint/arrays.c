/* A checkpoint's floats, wherever they are: in memory, in its source, in a state file. */
#include "base/is_finite.h"
#include "checkpoint/checkpoint.h"

#include <stdlib.h>
#include <string.h>

ddp_status ddp_checkpoint_get(const ddp_checkpoint *c, size_t i, size_t at, float *x, size_t count,
                              ddp_error *err)
{
    const ddp_checkpoint_array *array = &c->arrays[i];

    if (!array->data)
        return c->source->read(c->source->ctx, array->key, at, x, count, err);
    memcpy(x, (const float *)array->data + at, count * sizeof *x);
    return DDP_OK;
}

ddp_status ddp_checkpoint_copy_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                      size_t count, ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; i < count && !st; i++)
        if (arrays[i].data)
            st = ddp_checkpoint_get(c, i, 0, arrays[i].data, arrays[i].count, err);
    return st;
}

/* ---- are they finite? ---- */

ddp_status ddp_checkpoint_not_finite(const ddp_checkpoint_array *array, ddp_error *err)
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
            st = ddp_checkpoint_not_finite(array, err);
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
            st = ddp_all_finite(array->data, array->count) ? DDP_OK
                                                           : ddp_checkpoint_not_finite(array, err);
        else if (c->source)
            st = check_source(c, i, err);
    }
    return st;
}
