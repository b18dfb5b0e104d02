#include "glue/residual_blocks.h"

#include "layers/graph.h"

#include <darknet.h>
#include <stdlib.h>

static int is_within(const ddp_residual_block *b, int layer)
{
    return layer >= b->first && layer <= b->last;
}

/* Return 1 if the layers of the block read x and each other, and the shortcut alone reads them. */
static int is_closed(const network *net, const ddp_residual_block *b)
{
    for (int i = 0; i < net->n; i++)
        for (int k = 0, source; (source = layer_source(net, i, k)) != NO_SOURCE; k++)
            if (is_within(b, i) ? source < b->first - 1 : i != b->shortcut && is_within(b, source))
                return 0;
    return 1;
}

static int is_plain_shortcut(const layer *l)
{
    return l->type == SHORTCUT && !l->input_layers && l->w == l->out_w && l->h == l->out_h
           && l->c == l->out_c;
}

/* taken: the last block that was found; NULL: none. */
static int is_block(const network *net, const ddp_residual_block *b,
                    const ddp_residual_block *taken)
{
    if (b->first > b->last || (taken && taken->shortcut >= b->first))
        return 0;
    if (net->layers[b->first].type == DROPOUT) /* in place: it changes x */
        return 0;
    for (int i = b->first; i <= b->last; i++)
        if (!layer_type_passes_on(net->layers[i].type) || net->layers[i].truth
            || layer_is_shared(net, i))
            return 0;
    return is_closed(net, b);
}

ddp_status ddp_residual_blocks_find(ddp_residual_block **blocks, int *count, const network *net,
                                    int from, ddp_error *err)
{
    ddp_residual_block *all = calloc((size_t)net->n + 1, sizeof *all);
    int n = 0;

    *blocks = NULL;
    *count = 0;
    if (!all)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the blocks of %d layers", net->n);
    for (int i = 0; i < net->n; i++) {
        ddp_residual_block b = {.first = net->layers[i].index + 1, .last = i - 1, .shortcut = i};

        if (is_plain_shortcut(&net->layers[i]) && b.first >= from
            && is_block(net, &b, n > 0 ? &all[n - 1] : NULL))
            all[n++] = b;
    }
    *blocks = all;
    *count = n;
    return DDP_OK;
}
