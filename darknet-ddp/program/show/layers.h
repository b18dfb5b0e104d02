/* show/layers.h: a line about the network instead of the table of its layers. */
#ifndef DDP_SHOW_LAYERS_H
#define DDP_SHOW_LAYERS_H

#include "glue/network_size.h"

/* Print on standard error how large a network is; its table of layers goes to the run's NAME.log.
 * Fits ddp_darknet_config.table. */
void ddp_layers_show(const ddp_network_size *size, const char *table);

#endif
