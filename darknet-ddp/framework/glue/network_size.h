/* glue/network_size.h: counts a network's layers, parameters and operations. */
#ifndef DDP_GLUE_NETWORK_SIZE_H
#define DDP_GLUE_NETWORK_SIZE_H

#include "base/status.h"
#include "glue/network.h"

typedef struct ddp_network_size {
    int layers;
    size_t parameters;
    double operations; /* multiplications and additions with weights in one input's forward pass */
    int has_pictures;  /* 1: the input is a picture */
    size_t bytes;      /* host memory that the network takes; 0: not known */
} ddp_network_size;

/* Set *size to net's size, with bytes 0. Layers that share another's weights add no operations.
 * Fails with DDP_ERR_USAGE (a layer with parameters has a type that param_table.c does not
 * know), DDP_ERR_NOMEM. */
ddp_status ddp_network_size_of(ddp_network_size *size, const network *net,
                               ddp_error *err) DDP_MUST_CHECK;

#endif
