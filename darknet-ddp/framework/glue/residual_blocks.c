#include "glue/residual_blocks.h"

#include <darknet.h>
#include <stdlib.h>

/* The k-th layer that a layer reads beside the one before it; -1: there are no more. */
static int source_of(const layer *l, int k)
{
    switch (l->type) {
    case ROUTE:
        return k < l->n ? l->input_layers[k] : -1;
    case SHORTCUT:
        if (l->input_layers)
            return k < l->n ? l->input_layers[k] : -1;
        return k == 0 ? l->index : -1;
    case SCALE_CHANNELS:
    case SAM:
        return k == 0 ? l->index : -1;
    default:
        return -1;
    }
}

static int passes_on(LAYER_TYPE type)
{
    switch (type) {
    case CONVOLUTIONAL:
    case DECONVOLUTIONAL:
    case CONNECTED:
    case LOCAL:
    case BATCHNORM:
    case ACTIVE:
    case NORMALIZATION:
    case L2NORM:
    case MAXPOOL:
    case AVGPOOL:
    case REORG:
    case UPSAMPLE:
    case DROPOUT:
    case ROUTE:
    case SHORTCUT:
    case SCALE_CHANNELS:
    case SAM:
    case IMPLICIT:
        return 1;
    default:
        return 0;
    }
}

static int is_shared(const network *net, int layer)
{
    if (net->layers[layer].share_layer)
        return 1;
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].share_layer == &net->layers[layer])
            return 1;
    return 0;
}

static int is_within(const ddp_residual_block *b, int layer)
{
    return layer >= b->first && layer <= b->last;
}

/* f's layers read x and each other, and nobody else reads them. */
static int is_closed(const network *net, const ddp_residual_block *b)
{
    for (int i = 0; i < net->n; i++)
        for (int k = 0; source_of(&net->layers[i], k) >= 0; k++) {
            int source = source_of(&net->layers[i], k);

            if (is_within(b, i) ? source < b->first - 1 : is_within(b, source))
                return 0;
        }
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
        if (!passes_on(net->layers[i].type) || net->layers[i].truth || is_shared(net, i))
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
