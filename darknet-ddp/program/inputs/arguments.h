/* inputs/arguments.h: are the files of a train command what their places on the line say? Before
 * anything is started, made or written. */
#ifndef DDP_INPUTS_ARGUMENTS_H
#define DDP_INPUTS_ARGUMENTS_H

#include "base/status.h"
#include "base/suggest.h"
#include "inputs/text_file.h"

/* Looks at `darknet COMMAND train DATA CFG`, where COMMAND is one that reads a .data file; of
 * others nothing is looked at. DDP_ERR_USAGE: DATA is a cfg, CFG is a .data file, DATA has no
 * option at all, no train=, or a key that nobody reads (with allow_unknown that is no error). A
 * file that cannot be read is left to who reads it. Each word may be NULL. */
ddp_status ddp_arguments_check(const char *command, const char *data, const char *cfg,
                               int allow_unknown, ddp_error *err) DDP_MUST_CHECK;

/* The first option of a .data file that nobody reads; NULL: there is none. *near: what may have
 * been meant. */
const ddp_cfg_line *ddp_arguments_unknown_key(const ddp_sections *data, ddp_suggest *near);

#endif
