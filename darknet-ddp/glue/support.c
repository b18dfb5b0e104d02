#include "glue/support.h"

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

ddp_status ddp_check_trainable(const network *net, ddp_error *err)
{
    for (int i = 0; i < net->n; i++) {
        const char *name = name_if_refused(net->layers[i].type);

        if (name)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "layer %d is of type %s, which Darknet does not train rightly", i,
                            name);
    }
    return DDP_OK;
}
