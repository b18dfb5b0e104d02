/* cli/forecast.h: prints the table of `darknet ddp plan -profile FILE`: predicted times of a step
 * on 1, 2, 4 and more ranks (bench/forecast.h). */
#ifndef DDP_CLI_FORECAST_H
#define DDP_CLI_FORECAST_H

#include "core/bucket_plan.h"
#include "glue/network.h"
#include "options/options.h"

/* Print a line for 1 rank, 2, 4 and so on, the last for options->np ranks (1,024 without -np). The
 * times of layers come from the file options->profile; plan and shape are the network's. Fails with
 * DDP_ERR_USAGE if the file is no profile of this network, if -ddp_compress makes ranks send less
 * than whole gradients, or if an option shards the optimizer. Takes no account of local SGD. Fails
 * also with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_forecast_print(const ddp_bucket_plan *plan, const ddp_network_shape *shape,
                              const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

#endif
