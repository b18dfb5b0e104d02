/* run/reducer_config.h: translates options into the reducer's configuration. */
#ifndef DDP_RUN_REDUCER_CONFIG_H
#define DDP_RUN_REDUCER_CONFIG_H

#include "core/reducer.h"
#include "options/options.h"

/* Return the configuration of the reducer (core/reducer.h) that the options ask for. It leaves out
 * the fields of algorithms, which the trainer sets. watch: the watch that notes each bucket; NULL:
 * none. Call after ddp_gpus_open. */
ddp_reducer_config ddp_reducer_config_of(const ddp_options *o, const ddp_group *group,
                                         ddp_watch *watch);

#endif
