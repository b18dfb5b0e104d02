/* show/layers.h: prints one line about a network in place of Darknet's table of its layers. */
#ifndef DDP_SHOW_LAYERS_H
#define DDP_SHOW_LAYERS_H

#include "glue/network_size.h"

/* Print on standard error how large a network is, and write its table of layers to NAME.log. It is
 * a callback for ddp_darknet_config.table. */
void ddp_layers_show(const ddp_network_size *size, const char *table);

#endif
