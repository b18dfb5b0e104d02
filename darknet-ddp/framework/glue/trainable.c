#include "glue/trainable.h"

#include <darknet.h>

/* gru has no backward pass on CPUs; it and lstm carry state from one forward pass
 * into the next, so what they learn depends on which rank ran which mini-batch. */
static const char *name_if_refused(LAYER_TYPE type)
{
    switch (type) {
    case GRU:
        return "gru";
    case LSTM:
        return "lstm";
    default:
        return NULL;
    }
}

static int has_weights(const network *net)
{
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].update)
            return 1;
    return 0;
}

ddp_status ddp_check_trainable(const network *net, ddp_error *err)
{
    for (int i = 0; i < net->n; i++) {
        const char *name = name_if_refused(net->layers[i].type);

        if (name)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "layer %d is of type %s, which Darknet does not train correctly", i,
                            name);
    }
    if (!has_weights(net))
        return ddp_fail(err, DDP_ERR_USAGE, "the cfg has nothing to train: no layer has weights");
    return DDP_OK;
}

static int has_one_value(const layer *l)
{
    if (l->type == RNN || l->type == CRNN)
        return has_one_value(l->input_layer) || has_one_value(l->self_layer)
               || has_one_value(l->output_layer);
    return (l->batch_normalize || l->type == BATCHNORM) && l->batch == 1
           && l->out_w * l->out_h == 1;
}

int ddp_find_layer_with_one_value(const network *net)
{
    for (int i = 0; i < net->n; i++)
        if (has_one_value(&net->layers[i]))
            return i;
    return -1;
}
