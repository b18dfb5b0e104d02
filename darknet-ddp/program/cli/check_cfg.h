/* cli/check_cfg.h: finds out what training would refuse in a cfg: a child process of this program
 * parses it as training does. If it is accepted, also warns of values that train badly. */
#ifndef DDP_CLI_CHECK_CFG_H
#define DDP_CLI_CHECK_CFG_H

#include "base/cfg_text.h"
#include "check/faults.h"
#include "options/options.h"

/* Add to f an error that training has printed as `line`: "FILE:30: what is wrong". If `line` does
 * not begin with `file`, a path, and a number, the error is about the whole file. kind: constant
 * that names the kind of error. */
void ddp_check_add_said(ddp_faults *f, const char *kind, const char *file, const char *line);

/* Add to f what is wrong with the cfg at path. If Darknet refuses it, that is one error, about the
 * first key, value or layer. Else faults are a batch that cannot be cut, a size that cells do not
 * divide or random=1 does not draw, and values that train badly. If the child process that parses
 * it cannot be started, that is an error, too.
 *   cfg  text of the file at path, with the values of the options already in it */
void ddp_check_cfg(ddp_faults *f, const char *path, const ddp_cfg_text *cfg,
                   const ddp_options *options);

/* Fail with DDP_ERR_FORMAT, naming the line, if the cfg has a layer that Darknet does not train
 * correctly. */
ddp_status ddp_check_cfg_trainable(const char *path, const ddp_cfg_text *cfg,
                                   ddp_error *err) DDP_MUST_CHECK;

#endif
