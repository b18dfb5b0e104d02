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

/* Look at some pictures of train= and valid=, spread evenly over the lists, for about a second. If
 * none of a detector's has labels, look for labels for up to 10 s more.
 *
 * Does nothing for commands other than "detector" and "classifier". Does nothing with -nocheck, or
 * with -ddp_on_bad_data skip, which expects faults. data, cfg: the command's files; with one NULL
 * does nothing. values: values of [net] in place of the cfg's. Ranks share the pictures, and all
 * learn what was found. Collective.
 *
 * If training or validation would end by a fault, each rank says by `say` the first five such
 * faults that it has seen, and every rank gets DDP_ERR_FORMAT. Rank 0 prints one line that counts
 * other faults of labels, and a line for each fault of names and of the cfg's values
 * (check/training_values.h). A line also tells of a list without any box, of too many boxes beyond
 * their pictures, and of anchors that fit badly. A file that cannot be read is left to Darknet to
 * name. Fails also with DDP_ERR_COMM, DDP_ERR_NOMEM. */
ddp_status ddp_preflight(ddp_group *group, const ddp_options *options, const ddp_net_value *values,
                         const char *command, const char *data, const char *cfg,
                         ddp_preflight_say *say, ddp_error *err) DDP_MUST_CHECK;

#endif
