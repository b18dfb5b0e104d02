/* inputs/file_kinds.h: is each file on the line of the kind that its place wants? All fail with
 * DDP_ERR_USAGE, and say what the file is and what is wanted. */
#ifndef DDP_INPUTS_FILE_KINDS_H
#define DDP_INPUTS_FILE_KINDS_H

#include "base/status.h"
#include "inputs/arguments.h"
#include "inputs/text_file.h"

/* CFG or WEIGHTS is a model of another framework, by its name, whether it is there or not. */
ddp_status ddp_kind_check_names(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* DATA or CFG is a weights file, or WEIGHTS none. */
ddp_status ddp_kind_check_weights(const ddp_arguments *a, ddp_error *err) DDP_MUST_CHECK;

/* DATA is empty, or begins as a cfg does. */
ddp_status ddp_kind_check_data(const ddp_sections *data, const char *path,
                               ddp_error *err) DDP_MUST_CHECK;

/* CFG begins as a .data file does. What else is wrong with a cfg Darknet says, with its line. */
ddp_status ddp_kind_check_cfg(const ddp_sections *cfg, const char *path,
                              ddp_error *err) DDP_MUST_CHECK;

/* CFG is of another kind of network than a->command trains, or a classifier's has another number of
 * outputs than classes. A section that Darknet does not know it says. */
ddp_status ddp_kind_check_network(const ddp_arguments *a, const ddp_sections *cfg,
                                  const ddp_sections *data, ddp_error *err) DDP_MUST_CHECK;

/* The network of a classifier is no square: its pictures are cut to squares. */
ddp_status ddp_kind_check_square(const ddp_arguments *a, const ddp_sections *cfg,
                                 ddp_error *err) DDP_MUST_CHECK;

/* A detector's max_batches is 0, or policy=poly has none; to other commands and policies that is no
 * end. A cfg without the key may have
 * it misspelt, which is told when it is read. */
ddp_status ddp_kind_check_length(const ddp_arguments *a, const ddp_sections *cfg,
                                 ddp_error *err) DDP_MUST_CHECK;

#endif
