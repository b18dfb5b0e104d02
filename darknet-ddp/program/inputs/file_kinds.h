/* inputs/file_kinds.h: checks whether each file on a command line is of the kind that its place
 * wants, and whether the cfg suits the command. All functions fail with DDP_ERR_USAGE. DATA, CFG
 * and WEIGHTS are the paths in ddp_arguments; a path that is NULL passes. The parameters `data` and
 * `cfg` are their contents, `path` the path, for errors; none is NULL. */
#ifndef DDP_INPUTS_FILE_KINDS_H
#define DDP_INPUTS_FILE_KINDS_H

#include "base/status.h"
#include "inputs/arguments.h"
#include "inputs/text_file.h"

/* Fail if DATA, CFG or WEIGHTS has a name like another framework's model (.pt, .onnx, ...), whether
 * it exists or not. */
ddp_status ddp_kind_check_names(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* Fail if DATA or CFG is a weights file, or WEIGHTS is surely none (ddp_may_be_weights). A file
 * that cannot be read passes. */
ddp_status ddp_kind_check_weights(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* Fail if DATA is empty, or begins as a cfg does. */
ddp_status ddp_kind_check_data(const ddp_sections *data, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* Fail if CFG begins as a .data file does. Darknet names other faults of a cfg. */
ddp_status ddp_kind_check_cfg(const ddp_sections *cfg, const char *path,
                              ddp_error *err) DDP_MUST_CHECK;

/* Fail if CFG's network is not one that a->command trains. "detector" wants a layer that detects;
 * other commands want a loss. "classifier" also refuses a detector, and another number of outputs
 * than classes= of data. An unknown section passes: Darknet names it when it parses the cfg. */
ddp_status ddp_kind_check_network(const ddp_arguments *a, const ddp_sections *cfg,
                                  const ddp_sections *data, ddp_error *err) DDP_MUST_CHECK;

/* Fail if a classifier's network has another width than height. Its pictures are cut to squares. */
ddp_status ddp_kind_check_square(const ddp_arguments *a, const ddp_sections *cfg,
                                 ddp_error *err) DDP_MUST_CHECK;

/* Fail if CFG's max_batches= is 0 and a->command is "detector". Fail also if max_batches= is 0 or
 * missing and CFG has policy=poly, whose rate falls to 0 at max_batches=. Pass if a->has_epochs is
 * 1, since -epochs sets max_batches=. */
ddp_status ddp_kind_check_length(const ddp_arguments *a, const ddp_sections *cfg,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
