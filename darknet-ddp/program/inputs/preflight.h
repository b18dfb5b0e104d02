/* inputs/preflight.h: checks some pictures and labels, the names and the cfg before a run, so that
 * faults end it at once and not after hours.
 *
 * Ranks share up to 2048 pictures of each list (train= and valid=), spread evenly over it. A rank
 * stops after half a second for each list. If none of the pictures of a detector's train= that were
 * checked has a label file, ranks look for one in the whole list, for up to 10 s. */
#ifndef DDP_INPUTS_PREFLIGHT_H
#define DDP_INPUTS_PREFLIGHT_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/darknet.h"
#include "options/options.h"

/* A function that prints lines of this rank; the last one has no newline. */
typedef void ddp_preflight_say(const char *lines);

/* Check the files of a train command. Collective. Fails on every rank with DDP_ERR_FORMAT at a
 * fault that would end or mislead training or validation, or if no picture of a detector has
 * labels. Each rank first says the first five such faults that it has found. Rank 0 prints lesser
 * ones, or their number. Fails also with DDP_ERR_COMM, DDP_ERR_NOMEM.
 *
 * Does nothing for commands other than "detector" and "classifier", with -nocheck, or with
 * -ddp_on_bad_data skip. Checks nothing if on some rank a file cannot be read (Darknet says so), or
 * if the list is empty. Nor if the cfg has an unknown section or is of another kind.
 *   values     new values of [net] (inputs/overrides.h); not NULL
 *   data, cfg  paths of the command's files; NULL: none, so nothing is done */
ddp_status ddp_preflight(ddp_group *group, const ddp_options *options, const ddp_net_value *values,
                         const char *command, const char *data, const char *cfg,
                         ddp_preflight_say *say, ddp_error *err) DDP_MUST_CHECK;

#endif
