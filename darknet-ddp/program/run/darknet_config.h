/* run/darknet_config.h: what options set in Darknet for the whole process. */
#ifndef DDP_RUN_DARKNET_CONFIG_H
#define DDP_RUN_DARKNET_CONFIG_H

#include "glue/darknet.h"
#include "options/options.h"

/* What every command has of them; a command adds its line and fatal, and a session what depends on
 * its ranks. */
ddp_darknet_config ddp_darknet_config_of(const ddp_options *options);

#endif
