/* cli/check_cfg.h: finds out what training would refuse in a cfg, by having this program parse it
 * as training does. */
#ifndef DDP_CLI_CHECK_CFG_H
#define DDP_CLI_CHECK_CFG_H

#include "base/cfg_text.h"
#include "check/faults.h"
#include "options/options.h"

/* Add to f an error that training has printed as `line`.
 *   kind  constant that names the kind of error: "cfg-refused"
 *   file  path of the cfg
 *   line  "FILE:30: what is wrong"; if no place begins it, the error is about all of `file` */
void ddp_check_add_said(ddp_faults *f, const char *kind, const char *file, const char *line);

/* Add to f what is wrong with the cfg at path. If Darknet refuses it, that is one error, about the
 * first key, value or layer. If it does not, these are faults: a batch that cannot be cut, cells
 * that do not divide the picture, and values that train badly (check/training_values.h). Darknet
 * parses in a child process; if none can be started, that is an error of f.
 *   cfg      text of the file at path
 *   options  those that replace values of the cfg hold */
void ddp_check_cfg(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                   const ddp_options *options);

/* Fail with DDP_ERR_FORMAT, naming the line, if the cfg has a layer that Darknet does not train
 * correctly. */
ddp_status ddp_check_cfg_trainable(const char *path, const ddp_cfg_text *cfg,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
