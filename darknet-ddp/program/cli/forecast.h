/* cli/forecast.h: what `darknet ddp plan -profile FILE` predicts, as a table. */
#ifndef DDP_CLI_FORECAST_H
#define DDP_CLI_FORECAST_H

#include "core/bucket_plan.h"
#include "glue/network.h"
#include "options/options.h"

/* Print a line for each power of two of ranks up to options->np, or 1,024, and for that. What
 * options->profile names is of a network of this shape and plan. Fails with DDP_ERR_IO,
 * DDP_ERR_USAGE (core/layer_profile.h), DDP_ERR_NOMEM. */
ddp_status ddp_forecast_print(const ddp_bucket_plan *plan, const ddp_network_shape *shape,
                              const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

#endif
