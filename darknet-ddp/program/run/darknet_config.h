/* run/darknet_config.h: translates options into the settings of Darknet for the whole process. */
#ifndef DDP_RUN_DARKNET_CONFIG_H
#define DDP_RUN_DARKNET_CONFIG_H

#include "glue/darknet.h"
#include "options/options.h"

/* Return the settings of Darknet that options give, for every command. The caller sets `line` and
 * `fatal`; a session also sets what depends on its ranks. */
ddp_darknet_config ddp_darknet_config_of(const ddp_options *options);

#endif
