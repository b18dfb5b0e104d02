/* inputs/preflight.h: looks, before a run, at some pictures of train= and valid=, names and the
 * cfg. */
#ifndef DDP_INPUTS_PREFLIGHT_H
#define DDP_INPUTS_PREFLIGHT_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/darknet.h"
#include "options/options.h"

/* A function that prints lines in the name of this rank. */
typedef void ddp_preflight_say(const char *lines);

/* Look at some pictures of train= and valid=, spread evenly over the lists, for about a second.
 *
 * Does nothing for commands other than "detector" and "classifier". Does nothing with -nocheck, or
 * with -ddp_on_bad_data skip, which expects faults. data, cfg: the command's files. values: values
 * of [net] in place of the cfg's. Ranks share the pictures, and all learn what was found.
 * Collective.
 *
 * If training or validation would end by a fault, each rank says by `say` which faults it has seen,
 * and every rank gets DDP_ERR_FORMAT. A line is printed for each other fault, a list without any
 * box, too many boxes beyond their pictures, and faults of names and of the cfg's values
 * (check/training_values.h). A file that cannot be read is left to Darknet to name. Fails also with
 * DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_preflight(ddp_group *group, const ddp_options *options, const ddp_net_value *values,
                         const char *command, const char *data, const char *cfg,
                         ddp_preflight_say *say, ddp_error *err) DDP_MUST_CHECK;

#endif
