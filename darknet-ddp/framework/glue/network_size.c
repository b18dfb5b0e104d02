#include "glue/network_size.h"

#include "glue/param_table.h"

#include <darknet.h>

/* Return how often a forward pass of one input multiplies by each weight of l. */
static double uses(const layer *l)
{
    switch (l->type) {
    case CONVOLUTIONAL:
    case CRNN:
        return (double)l->out_w * l->out_h;
    case DECONVOLUTIONAL:
        return (double)l->w * l->h;
    default:
        return 1;
    }
}

ddp_status ddp_network_size_of(ddp_network_size *size, const network *net, ddp_error *err)
{
    ddp_param_table table;

    *size = (ddp_network_size){.layers = net->n, .has_pictures = net->w > 0 && net->h > 0};
    if (ddp_param_table_init(&table, (network *)net, ddp_device_host(), err))
        return err->code;
    for (size_t i = 0; i < table.param_count; i++) {
        const ddp_param *p = &table.params[i];

        size->parameters += p->count;
        if (p->rows > 0)
            size->operations += 2.0 * (double)p->count * uses(&net->layers[p->layer]);
    }
    ddp_param_table_release(&table);
    return DDP_OK;
}
