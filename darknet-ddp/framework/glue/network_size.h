/* glue/network_size.h: counts how large a network is. */
#ifndef DDP_GLUE_NETWORK_SIZE_H
#define DDP_GLUE_NETWORK_SIZE_H

#include "base/status.h"
#include "glue/network.h"

typedef struct ddp_network_size {
    int layers;
    size_t parameters;
    double operations; /* sums and products with weights in a forward pass of one input */
    int has_pictures;  /* 1: the input is a picture */
    size_t bytes;      /* host memory that the network takes; 0: not known */
} ddp_network_size;

/* Fill *size for net, all but bytes, which becomes 0. Fails with DDP_ERR_USAGE (a layer of an
 * unknown type is updated), DDP_ERR_NOMEM. */
ddp_status ddp_network_size_of(ddp_network_size *size, const network *net,
                               ddp_error *err) DDP_MUST_CHECK;

#endif
