/* cli/check_cfg.h: finds out whether training would refuse a cfg, by asking the code that would. */
#ifndef DDP_CLI_CHECK_CFG_H
#define DDP_CLI_CHECK_CFG_H

#include "base/cfg_text.h"
#include "check/faults.h"
#include "options/options.h"

/* Add an error of `file` to f from one line that training prints: "FILE:30: what is wrong", or
 * without a place. `kind`: a short constant. */
void ddp_check_add_said(ddp_faults *f, const char *kind, const char *file, const char *line);

/* Have a process of its own parse the cfg at path as training does, since the process ends where
 * Darknet refuses something. cfg is the text of the file.
 *
 * The first key, value or layer that is refused becomes an error of f. If none is, a batch that
 * cannot be cut into mini-batches becomes an error, and cells of a detector that do not divide the
 * picture a warning. Values that train badly are told, too (check/training_values.h). A process
 * that cannot be started is an error, too. */
void ddp_check_cfg(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                   const ddp_options *options);

/* Fail with DDP_ERR_FORMAT, naming the line, if Darknet does not train a layer correctly. */
ddp_status ddp_check_cfg_trainable(const char *path, const ddp_cfg_text *cfg,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
