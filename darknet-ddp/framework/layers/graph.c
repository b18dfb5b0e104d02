#include "layers/graph.h"

#include "network.h"
#include "utils.h"

enum {
    KNOWN = 1,
    BEFORE = 2,     /* reads the layer before it */
    INDEX = 4,      /* reads layer l.index */
    LISTED = 8,     /* reads l.input_layers, of l.n; a [shortcut] that has none reads l.index */
    PASSES_ON = 16, /* layer_type_passes_on */
    NO_DELTA = 32   /* layer_takes_gradient */
};

static const unsigned char rows[BLANK] = {
    [CONVOLUTIONAL] = KNOWN | BEFORE | PASSES_ON,
    [DECONVOLUTIONAL] = KNOWN | BEFORE | PASSES_ON,
    [CONNECTED] = KNOWN | BEFORE | PASSES_ON,
    [MAXPOOL] = KNOWN | BEFORE | PASSES_ON,
    [SOFTMAX] = KNOWN | BEFORE,
    [DETECTION] = KNOWN | BEFORE,
    [DROPOUT] = KNOWN | BEFORE | PASSES_ON,
    [CROP] = KNOWN | BEFORE | NO_DELTA,
    [ROUTE] = KNOWN | LISTED | PASSES_ON,
    [COST] = KNOWN | BEFORE,
    [NORMALIZATION] = KNOWN | BEFORE | PASSES_ON,
    [AVGPOOL] = KNOWN | BEFORE | PASSES_ON,
    [LOCAL] = KNOWN | BEFORE | PASSES_ON,
    [SHORTCUT] = KNOWN | BEFORE | INDEX | LISTED | PASSES_ON,
    [ACTIVE] = KNOWN | BEFORE | PASSES_ON,
    [RNN] = KNOWN | BEFORE,
    [GRU] = KNOWN | BEFORE,
    [LSTM] = KNOWN | BEFORE,
    [CRNN] = KNOWN | BEFORE,
    [BATCHNORM] = KNOWN | BEFORE | PASSES_ON,
    [NETWORK] = KNOWN | BEFORE,
    [XNOR] = KNOWN | BEFORE,
    [REGION] = KNOWN | BEFORE,
    [YOLO] = KNOWN | BEFORE,
    [ISEG] = KNOWN | BEFORE,
    [REORG] = KNOWN | BEFORE | PASSES_ON,
    [UPSAMPLE] = KNOWN | BEFORE | PASSES_ON,
    [LOGXENT] = KNOWN | BEFORE,
    [L2NORM] = KNOWN | BEFORE | PASSES_ON,
#define FORKS_LAYER(type, name, reads, keys) [type] = KNOWN | (reads),
#include "layers/forks_layers.def"
};

int layer_type_is_known(LAYER_TYPE type)
{
    return type < BLANK && rows[type] != 0;
}

int layer_type_passes_on(LAYER_TYPE type)
{
    return layer_type_is_known(type) && (rows[type] & PASSES_ON) != 0;
}

int layer_source(const network *net, int i, int k)
{
    const layer *l = net->layers + i;
    int row = layer_type_is_known(l->type) ? rows[l->type] : 0;
    if (!row)
        fatal("layer %d, [%s], has no row in layers/graph.c", i, get_layer_string(l->type));
    if (row & BEFORE) {
        if (k == 0)
            return i - 1;
        --k;
    }
    if (row & LISTED && l->input_layers)
        return k < l->n ? l->input_layers[k] : NO_SOURCE;
    return row & INDEX && k == 0 ? l->index : NO_SOURCE;
}

int layer_actual_source(const network *net, int i, int reader)
{
    while (i >= 0 && i + 1 < reader && net->layers[i + 1].type == DROPOUT)
        ++i;
    return i;
}

int layer_takes_gradient(const network *net, int i)
{
    while (i > 0 && net->layers[i].type == DROPOUT)
        --i;
    return !(rows[net->layers[i].type] & NO_DELTA);
}

static int reads(const network *net, int reader, int i)
{
    int k, source;
    for (k = 0; (source = layer_source(net, reader, k)) != NO_SOURCE; ++k)
        if (layer_actual_source(net, source, reader) == i)
            return 1;
    return 0;
}

int layer_reader(const network *net, int i, int after)
{
    int j;
    for (j = after + 1; j < net->n && !reads(net, j, i);)
        ++j;
    return j < net->n ? j : net->n;
}

int layer_is_shared(const network *net, int i)
{
    int j;
    for (j = 0; j < net->n; ++j)
        if (net->layers[j].share_layer == net->layers + i)
            return 1;
    return net->layers[i].share_layer != 0;
}
