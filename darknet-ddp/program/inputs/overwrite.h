/* inputs/overwrite.h: a command never writes over a file that it reads, or over a file that is
 * something else. A file that is there already, and not empty, must be an earlier one of the same
 * kind, not just any JSON or JPEG file. Weights and cfgs are never written over. Files are told
 * apart by device and inode, so a link counts as the file to which it leads. */
#ifndef DDP_INPUTS_OVERWRITE_H
#define DDP_INPUTS_OVERWRITE_H

#include "base/status.h"
#include "inputs/written_kinds.h"
#include "options/ddp_commands.h"
#include "options/options.h"

/* Note the files that a command reads: those of its line, and those that its .data file names. Then
 * check the files that options and words tell it to write. The command's line, without our own
 * options, is argv. The command's row is own; NULL: a command of Darknet's. Fails with
 * DDP_ERR_USAGE, naming both files, if one may not be written over, or if two written files are the
 * same; DDP_ERR_NOMEM. */
ddp_status ddp_overwrite_check(int argc, char **argv, const ddp_ddp_command *own,
                               const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

/* Check one file more that is to be written. what: what names it ("-out NAME"), for the error.
 * Call after ddp_overwrite_check. Fails as ddp_overwrite_check. */
ddp_status ddp_overwrite_check_file(const char *what, const char *path, ddp_written_kind kind,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Check NAME.jpg, which the option `what` asks to write, as ddp_overwrite_check_file does. NAME.jpg
 * may not be a picture of a list of the .data file `data` either; NULL: there is no such file. */
ddp_status ddp_overwrite_check_picture(const char *what, const char *name, const char *data,
                                       ddp_error *err) DDP_MUST_CHECK;

#endif
