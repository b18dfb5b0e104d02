#include "glue/support.h"

ddp_status ddp_check_trainable(const network *net, ddp_error *err)
{
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == GRU)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "layer %d is a gru layer, whose backward pass Darknet has on GPUs only",
                            i);
    return DDP_OK;
}
