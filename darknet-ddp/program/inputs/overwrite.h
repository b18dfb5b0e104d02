/* inputs/overwrite.h: a file that a command is told to write never takes the place of one that the
 * command reads, nor of one that is plainly something else: one that is there already, and not
 * empty, has to be an earlier one of the same kind, not just any JSON or JPEG file. Weights are
 * never written over. Files are told apart by device and inode, so a link is the file that it leads
 * to. */
#ifndef DDP_INPUTS_OVERWRITE_H
#define DDP_INPUTS_OVERWRITE_H

#include "base/status.h"
#include "inputs/written_kinds.h"
#include "options/ddp_commands.h"
#include "options/options.h"

/* Note what the command argv, less our own options, reads: the words of its line, and what its
 * .data file names. Then check the files that options and words tell it to write. own: NULL is a
 * command of Darknet's. DDP_ERR_USAGE names both files; also where two of what is written are one
 * file. */
ddp_status ddp_overwrite_check(int argc, char **argv, const ddp_ddp_command *own,
                               const ddp_options *options, ddp_error *err) DDP_MUST_CHECK;

/* The same for one file more, which `what` tells to write ("-out NAME"). */
ddp_status ddp_overwrite_check_file(const char *what, const char *path, ddp_written_kind kind,
                                    ddp_error *err) DDP_MUST_CHECK;

#endif
