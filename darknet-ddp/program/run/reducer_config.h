/* run/reducer_config.h: what options mean to the reducer, which knows none. */
#ifndef DDP_RUN_REDUCER_CONFIG_H
#define DDP_RUN_REDUCER_CONFIG_H

#include "core/reducer.h"
#include "options/options.h"

/* Of a run on these ranks: what was asked for, or the defaults. The trainer adds what an algorithm
 * plugs in. watch: NULL: nobody hears. */
ddp_reducer_config ddp_reducer_config_of(const ddp_options *o, const ddp_group *group,
                                         ddp_watch *watch);

#endif
