/* Checks whether a checkpoint fits the run that is to go on from it: the same arrays, options, seed
 * and list of pictures. */
#include "checkpoint/checkpoint.h"

#include <inttypes.h>
#include <string.h>

static int same_array(const ddp_checkpoint_array *a, const ddp_checkpoint_array *b)
{
    return a->layer == b->layer && a->count == b->count && strcmp(a->part, b->part) == 0
           && strcmp(a->name, b->name) == 0;
}

static void describe(char *out, size_t size, const ddp_checkpoint_array *array)
{
    if (array)
        (void)snprintf(out, size, "%s of layer %d's %s, %zu elements", array->name, array->layer,
                       array->part, array->count);
    else
        (void)snprintf(out, size, "nothing more");
}

ddp_status ddp_checkpoint_check_arrays(const ddp_checkpoint *c, const ddp_checkpoint_array *arrays,
                                       size_t count, ddp_error *err)
{
    size_t i = 0;
    char has[128], wants[128];

    while (i < count && i < c->array_count && same_array(&c->arrays[i], &arrays[i]))
        i++;
    if (i == count && i == c->array_count)
        return DDP_OK;
    describe(has, sizeof has, i < c->array_count ? &c->arrays[i] : NULL);
    describe(wants, sizeof wants, i < count ? &arrays[i] : NULL);
    return ddp_fail(err, DDP_ERR_MISMATCH,
                    "the network is another one: the checkpoint has %s, the network has %s", has,
                    wants);
}

static const char *value_in(const ddp_checkpoint_metadata *metadata, const char *name)
{
    for (size_t i = 0; i < metadata->option_count; i++)
        if (strcmp(metadata->options[i].name, name) == 0)
            return metadata->options[i].value;
    return "not known";
}

ddp_status ddp_checkpoint_check_option(const ddp_checkpoint_metadata *was,
                                       const ddp_checkpoint_option *option, ddp_error *err)
{
    const char *value = value_in(was, option->name);

    if (strcmp(value, option->value) != 0)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s was %s, is now %s", option->name, value,
                        option->value);
    return DDP_OK;
}

ddp_status ddp_checkpoint_check_seed(const ddp_checkpoint_metadata *was, uint64_t seed,
                                     ddp_error *err)
{
    if (seed != was->seed)
        return ddp_fail(err, DDP_ERR_MISMATCH, "the seed was %" PRIu64 ", is now %" PRIu64,
                        was->seed, seed);
    return DDP_OK;
}

ddp_status ddp_checkpoint_check_list(const ddp_checkpoint_metadata *was, uint64_t count,
                                     uint64_t hash, ddp_error *err)
{
    if (was->list_count == 0)
        return DDP_OK;
    if (was->list_count != count)
        return ddp_fail(err, DDP_ERR_MISMATCH,
                        "the training list had %" PRIu64 " lines, has now %" PRIu64,
                        was->list_count, count);
    if (was->list_hash != hash)
        return ddp_fail(err, DDP_ERR_MISMATCH,
                        "the training list has other lines than before, or another order");
    return DDP_OK;
}
