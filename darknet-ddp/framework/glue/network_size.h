/* glue/network_size.h: how large a network is. */
#ifndef DDP_GLUE_NETWORK_SIZE_H
#define DDP_GLUE_NETWORK_SIZE_H

#include "base/status.h"
#include "glue/network.h"

typedef struct ddp_network_size {
    int layers;
    size_t parameters;
    double operations; /* of a forward pass of one input: sums and products of convolutions and
                          connected layers */
    int has_pictures;  /* the input is one */
    size_t bytes;      /* of the host's memory; 0: not known */
} ddp_network_size;

/* All but bytes. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_network_size_of(ddp_network_size *size, const network *net,
                               ddp_error *err) DDP_MUST_CHECK;

#endif
