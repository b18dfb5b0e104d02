/* inputs/overwrite.h: refuses a command whose result would overwrite a file of the user. A file
 * that is there must be empty or of the result's kind by its first bytes (inputs/written_kinds.h),
 * and not one that the command reads. Weights and cfgs are overwritten only if empty. A link counts
 * as the file to which it leads. */
#ifndef DDP_INPUTS_OVERWRITE_H
#define DDP_INPUTS_OVERWRITE_H

#include "base/status.h"
#include "inputs/written_kinds.h"
#include "options/ddp_commands.h"
#include "options/options.h"

/* Check each file that a command line says to write, and the picture that some of Darknet's
 * commands write. Call once. Fails with DDP_ERR_USAGE if a file may not be overwritten, or if two
 * of these have one path. Fails also with DDP_ERR_NOMEM.
 *   argv  the command line, without our own options
 *   own   the row of a command of ours; NULL: a command of Darknet's */
ddp_status ddp_overwrite_check(int argc, char **argv, const ddp_ddp_command *own,
                               const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

/* Check one more file that is to be written. Call after ddp_overwrite_check; the errors are the
 * same. what: option that names the file, for the error: "-out NAME". */
ddp_status ddp_overwrite_check_file(const char *what, const char *path, ddp_written_kind kind,
                                    ddp_error *err) DDP_MUST_CHECK;

/* Check a picture that is to be written, at `name` with ".jpg" behind it. Call after
 * ddp_overwrite_check; the errors are the same. Fail also if a list of the .data file names it.
 *   what   option that names the picture ("-out"), for the error, which adds the name
 *   data   path of the .data file; NULL: there is none */
ddp_status ddp_overwrite_check_picture(const char *what, const char *name, const char *data,
                                       ddp_error *err) DDP_MUST_CHECK;

#endif
