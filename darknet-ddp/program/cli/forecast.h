/* cli/forecast.h: the table that `darknet ddp plan -profile FILE` prints: predicted times of a step
 * on more ranks (bench/forecast.h). */
#ifndef DDP_CLI_FORECAST_H
#define DDP_CLI_FORECAST_H

#include "core/bucket_plan.h"
#include "glue/network.h"
#include "options/options.h"

/* Print a line for 1, 2, 4 and so on ranks, below options->np, and one for options->np ranks (1,024
 * if -np is not given). `plan` and `shape` are those of the network whose layers' times
 * options->profile has. Fails with DDP_ERR_IO, DDP_ERR_NOMEM, and with DDP_ERR_USAGE if the profile
 * does not fit (core/layer_profile.h), or the options send other sums than those of whole
 * gradients. */
ddp_status ddp_forecast_print(const ddp_bucket_plan *plan, const ddp_network_shape *shape,
                              const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

#endif
