/* run/darknet_config.h: what options set in Darknet for the whole process. */
#ifndef DDP_RUN_DARKNET_CONFIG_H
#define DDP_RUN_DARKNET_CONFIG_H

#include "glue/darknet.h"
#include "options/options.h"

/* Return what the options set for every command. The caller adds `line` and `fatal`, and a session
 * what depends on its ranks. */
ddp_darknet_config ddp_darknet_config_of(const ddp_options *options);

#endif
