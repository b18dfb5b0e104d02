/* inputs/preflight.h: checks some pictures and labels, the names and the cfg before a run, so that
 * faults end it at once and not after hours. */
#ifndef DDP_INPUTS_PREFLIGHT_H
#define DDP_INPUTS_PREFLIGHT_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/darknet.h"
#include "options/options.h"

/* A function that prints lines of this rank. */
typedef void ddp_preflight_say(const char *lines);

/* Check some pictures of train= and valid=, spread evenly over the lists, for about a second. Ranks
 * share the pictures. If none of a detector's pictures has labels, look for labels for up to 10 s
 * more. Collective.
 *
 * Fails on every rank with DDP_ERR_FORMAT if a fault was found at which training or validation
 * would end. Each rank prints the first five that it has found, by `say`. For other faults, rank 0
 * prints lines: the number of faults in labels, and each fault of names and of the cfg's values
 * (check/training_values.h). It warns if no picture has a box, many boxes reach beyond their
 * pictures, or anchors fit badly. Fails also with DDP_ERR_COMM, DDP_ERR_NOMEM.
 *
 * Does nothing for commands other than "detector" and "classifier", with -nocheck, with
 * -ddp_on_bad_data skip, and if a file cannot be read, which Darknet says itself.
 *   values     new values of [net] (inputs/overrides.h)
 *   data, cfg  paths of the command's files; NULL: none, so nothing is done */
ddp_status ddp_preflight(ddp_group *group, const ddp_options *options, const ddp_net_value *values,
                         const char *command, const char *data, const char *cfg,
                         ddp_preflight_say *say, ddp_error *err) DDP_MUST_CHECK;

#endif
