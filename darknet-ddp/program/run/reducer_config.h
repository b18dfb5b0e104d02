/* run/reducer_config.h: the reducer's configuration, made of the options. */
#ifndef DDP_RUN_REDUCER_CONFIG_H
#define DDP_RUN_REDUCER_CONFIG_H

#include "core/reducer.h"
#include "options/options.h"

/* Return the reducer's configuration for a run on the group's ranks: what was asked for, or the
 * defaults. The trainer adds what an algorithm plugs in. watch: told of each bucket; NULL: nobody
 * is. */
ddp_reducer_config ddp_reducer_config_of(const ddp_options *o, const ddp_group *group,
                                         ddp_watch *watch);

#endif
