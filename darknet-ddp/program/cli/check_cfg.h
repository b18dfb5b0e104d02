/* cli/check_cfg.h: would training refuse this cfg? Asked of the code that refuses. */
#ifndef DDP_CLI_CHECK_CFG_H
#define DDP_CLI_CHECK_CFG_H

#include "base/cfg_text.h"
#include "check/faults.h"
#include "options/options.h"

/* An error of f, of what training says in one line: "FILE:30: what is wrong", or without the line.
 * file: where its place is not said. */
void ddp_check_add_said(ddp_faults *f, const char *kind, const char *file, const char *line);

/* Have this program parse the cfg at path as training does, in a process of its own, for what
 * Darknet refuses ends the program: the first thing that is refused, a key, a value, a layer that
 * does not fit, becomes an error of f; else a batch that cannot be cut into mini-batches does, and
 * cells of a detector that do not divide the picture become a warning. cfg is its text. A program
 * that cannot be started is an error of f, too. */
void ddp_check_cfg(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                   const ddp_options *options);

/* DDP_ERR_FORMAT, with the line, if the cfg has a layer that Darknet does not train correctly. */
ddp_status ddp_check_cfg_trainable(const char *path, const ddp_cfg_text *cfg,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
