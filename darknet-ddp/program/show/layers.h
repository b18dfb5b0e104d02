/* show/layers.h: a line in place of the table of layers. */
#ifndef DDP_SHOW_LAYERS_H
#define DDP_SHOW_LAYERS_H

#include "glue/network_size.h"

/* Say on standard error how large a network is whose table of layers this is; NAME.log of a run
 * gets the table. Fits ddp_darknet_config.table. */
void ddp_layers_show(const ddp_network_size *size, const char *table);

#endif
