/* inputs/preflight.h: a look at some of the training data before a run. */
#ifndef DDP_INPUTS_PREFLIGHT_H
#define DDP_INPUTS_PREFLIGHT_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/darknet.h"
#include "options/options.h"

/* Show lines, as this rank. */
typedef void ddp_preflight_say(const char *lines);

/* command: "detector" or "classifier", else nothing is done, nor with -ddp_on_bad_data skip,
 * which expects faults; data, cfg: its files; values: of [net], in place of the cfg's. Each rank
 * looks at pictures of train= and valid=, evenly over the lists, at most for about a second; all
 * learn what was found. Where training or validation would end by it, each rank says the faults
 * that it has seen by `say`, and DDP_ERR_FORMAT is returned on every rank; of others a line is
 * printed, where none of them has a box or too many reach beyond their pictures, too, and so is
 * what is wrong with names and with what the cfg says (check/training_values.h). What cannot even
 * be read is left to Darknet to name. Fails with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_preflight(ddp_group *group, const ddp_options *options, const ddp_net_value *values,
                         const char *command, const char *data, const char *cfg,
                         ddp_preflight_say *say, ddp_error *err) DDP_MUST_CHECK;

#endif
