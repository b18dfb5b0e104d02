/* run/darknet_config.h: translates options into the settings of Darknet for the whole process. */
#ifndef DDP_RUN_DARKNET_CONFIG_H
#define DDP_RUN_DARKNET_CONFIG_H

#include "glue/darknet.h"
#include "options/options.h"

/* Return the settings of Darknet that the options give. They hold for every command. Members that
 * depend on the command or its ranks are zero; the caller sets them. */
ddp_darknet_config ddp_darknet_config_of(const ddp_options *options);

#endif
