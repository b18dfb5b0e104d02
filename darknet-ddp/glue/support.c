#include "glue/support.h"

/* gru has an empty backward pass; lstm carries state from one forward pass into
 * the next, so what it learns depends on which rank ran which mini-batch. */
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
    if (net->gpu_index >= 0)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp sums gradients in host memory, and this network is on GPU %d; with "
                        "-nogpu it trains on the CPU",
                        net->gpu_index);
    for (int i = 0; i < net->n; i++) {
        const char *name = name_if_refused(net->layers[i].type);

        if (name)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "layer %d is of type %s, which Darknet does not train rightly on CPUs",
                            i, name);
    }
    return DDP_OK;
}
