/* comm/host_engine.h: the engine for sums of host memory, over comm/chunk_pipeline.h. */
#ifndef DDP_COMM_HOST_ENGINE_H
#define DDP_COMM_HOST_ENGINE_H

#include "comm/chunk_pipeline.h"

extern const struct ddp_sum_engine ddp_host_engine;

/* The group's sums of host memory go by its transport from here on, directly until
 * ddp_group_use_schedule says otherwise. Close it with ddp_chunk_pipeline_close. */
ddp_status ddp_host_engine_open(ddp_group *g, ddp_error *err);

#endif
