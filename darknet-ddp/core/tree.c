#include "core/tree.h"

#include "comm/sum.h"

#include <stdlib.h>
#include <string.h>

/* Elements that pass through all levels together: some of them stay in the first cache. */
enum { BLOCK = 2048 };

struct ddp_tree {
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

ddp_status ddp_tree_open(ddp_tree **out, float *block, size_t count, int leaves, ddp_error *err)
{
    ddp_tree *t;

    *out = NULL;
    if (!is_power_of_two(leaves))
        return ddp_fail(err, DDP_ERR_USAGE, "a tree of %d mini-batches: no power of two", leaves);
    t = calloc(1, sizeof *t);
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a tree");
    t->block = block;
    t->count = count;
    t->leaves = leaves;
    while (1 << t->levels < leaves)
        t->levels++;
    t->kept = calloc((size_t)t->levels * count + 1, sizeof *t->kept);
    if (!t->kept) {
        size_t bytes = ddp_tree_bytes(t);

        ddp_tree_close(t);
        return ddp_fail(err, DDP_ERR_NOMEM,
                        "no memory for the %zu MiB of partial sums that -ddp_exact keeps of %d "
                        "mini-batches a rank; fewer of them need less",
                        bytes >> 20, leaves);
    }
    *out = t;
    return DDP_OK;
}

void ddp_tree_close(ddp_tree *t)
{
    if (!t)
        return;
    free(t->kept);
    free(t);
}

static float *level(const ddp_tree *t, int j, size_t offset)
{
    return t->kept + (size_t)j * t->count + offset;
}

static void add(float *sum, float *more, size_t count)
{
    float *parts[] = {sum, more};

    ddp_sum_tree(parts, 2, 0, count);
}

/* A leaf's number in binary says which levels are full: add these, lowest first. */
static void fold_block(const ddp_tree *t, int leaf, size_t offset, size_t count)
{
    float *sum = t->block + offset;
    int j = 0;

    for (; leaf >> j & 1; j++)
        add(sum, level(t, j, offset), count);
    if (leaf == t->leaves - 1)
        return;
    memcpy(level(t, j, offset), sum, count * sizeof *sum);
    memset(sum, 0, count * sizeof *sum);
}

void ddp_tree_fold(ddp_tree *t, int leaf, size_t offset, size_t count)
{
    for (size_t at = 0; at < count; at += BLOCK)
        fold_block(t, leaf, offset + at, count - at < BLOCK ? count - at : BLOCK);
}

void ddp_tree_collect(ddp_tree *t, int folded, size_t offset, size_t count)
{
    for (int j = 0; j < t->levels; j++) {
        if (!(folded >> j & 1))
            continue;
        add(t->block + offset, level(t, j, offset), count);
        memset(level(t, j, offset), 0, count * sizeof(float));
    }
}

size_t ddp_tree_bytes(const ddp_tree *t)
{
    return (size_t)t->levels * t->count * sizeof(float);
}
