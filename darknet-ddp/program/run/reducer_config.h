/* run/reducer_config.h: translates options into the reducer's configuration. */
#ifndef DDP_RUN_REDUCER_CONFIG_H
#define DDP_RUN_REDUCER_CONFIG_H

#include "core/reducer.h"
#include "options/options.h"

/* Return the reducer's configuration for the group's ranks: what the options ask for, or the
 * defaults. The trainer sets the fields of an algorithm later. watch: is told of each bucket; NULL:
 * none. */
ddp_reducer_config ddp_reducer_config_of(const ddp_options *o, const ddp_group *group,
                                         ddp_watch *watch);

#endif
