#include "core/tree_sum.h"

#include <stdint.h>
#include <stdlib.h>

/* Elements that pass through all levels together on the host: some of them stay in the first
 * cache. A GPU takes all at once. */
enum { BLOCK = 2048 };

struct ddp_tree_sum {
    ddp_device *device;
    float *block;
    size_t count;
    int leaves;
    int levels;  /* log2(leaves) */
    float *kept; /* levels times count: level j holds a sum of 2^j leaves */
};

static int is_power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

ddp_status ddp_tree_sum_open(ddp_tree_sum **out, ddp_device *device, float *block, size_t count,
                             int leaves, ddp_error *err)
{
    ddp_tree_sum *t;

    *out = NULL;
    if (!is_power_of_two(leaves))
        return ddp_fail(err, DDP_ERR_USAGE, "a tree of %d mini-batches: no power of two", leaves);
    t = calloc(1, sizeof *t);
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a tree");
    t->device = device;
    t->block = block;
    t->count = count;
    t->leaves = leaves;
    while (1 << t->levels < leaves)
        t->levels++;
    if (ddp_device_alloc(device, &t->kept, (size_t)t->levels * count, err)) {
        size_t bytes = ddp_tree_sum_bytes(t);

        ddp_tree_sum_close(t);
        return ddp_fail(err, DDP_ERR_NOMEM,
                        "no memory for the %zu MiB of partial sums that an exact run keeps of %d "
                        "mini-batches a rank; fewer of them need less",
                        bytes >> 20, leaves);
    }
    *out = t;
    return DDP_OK;
}

void ddp_tree_sum_close(ddp_tree_sum *t)
{
    if (!t)
        return;
    ddp_device_free(t->device, t->kept);
    free(t);
}

static float *level(const ddp_tree_sum *t, int j, size_t offset)
{
    return t->kept + (size_t)j * t->count + offset;
}

/* A leaf's number in binary says which levels are full: add these, lowest first. */
static void fold_block(const ddp_tree_sum *t, int leaf, size_t offset, size_t count)
{
    float *sum = t->block + offset;
    int j = 0;

    for (; leaf >> j & 1; j++)
        ddp_device_add(t->device, sum, level(t, j, offset), count);
    if (leaf == t->leaves - 1)
        return;
    ddp_device_copy(t->device, level(t, j, offset), sum, count);
    ddp_device_zero(t->device, sum, count);
}

void ddp_tree_sum_fold(ddp_tree_sum *t, int leaf, size_t offset, size_t count)
{
    size_t block = ddp_device_is_host(t->device) ? BLOCK : count;

    for (size_t at = 0; at < count; at += block)
        fold_block(t, leaf, offset + at, count - at < block ? count - at : block);
}

void ddp_tree_sum_collect(ddp_tree_sum *t, int folded, size_t offset, size_t count)
{
    for (int j = 0; j < t->levels; j++) {
        if (!(folded >> j & 1))
            continue;
        ddp_device_add(t->device, t->block + offset, level(t, j, offset), count);
        ddp_device_zero(t->device, level(t, j, offset), count);
    }
}

size_t ddp_tree_sum_bytes(const ddp_tree_sum *t)
{
    return (size_t)t->levels * t->count * sizeof(float);
}
