/* inputs/same_data.h: checks that all ranks read the same data. Ranks on hosts with disks of their
 * own may find other files under the same names. */
#ifndef DDP_INPUTS_SAME_DATA_H
#define DDP_INPUTS_SAME_DATA_H

#include "base/status.h"
#include "comm/group.h"

#include <stddef.h>

/* Kind of the files that say what is in each picture of a list. */
typedef enum ddp_truth_files {
    DDP_TRUTH_NONE,
    DDP_TRUTH_LABELS, /* label files, where Darknet looks for them */
    DDP_TRUTH_MASKS   /* mask files, under mask/ in place of images/ */
} ddp_truth_files;

/* Return which kind of files `darknet COMMAND train` reads with the .data file at path data. For a
 * classifier whose file cannot be read: DDP_TRUTH_NONE. */
ddp_truth_files ddp_same_data_truth(const char *command, const char *data);

/* Compare, over all ranks, the sizes in bytes of the pictures at paths[0..n), which are the same on
 * all ranks, and the contents of their files of truth. Each rank looks for 10 seconds at most;
 * files that all have seen are compared. A file that is missing on all ranks is no error here.
 * Blocks. Fails with DDP_ERR_MISMATCH, naming the first file that differs, DDP_ERR_NOMEM,
 * DDP_ERR_COMM. */
ddp_status ddp_same_data_agree(ddp_group *group, ddp_truth_files truth, char *const *paths,
                               size_t n, ddp_error *err) DDP_MUST_CHECK;

/* Compare, over all ranks, the options of the .data file of this command, if it has one. Values
 * that name files may differ: their contents are compared. Blocks. Fails as ddp_same_data_agree. */
ddp_status ddp_same_data_agree_on_data(ddp_group *group, const char *command, const char *data,
                                       ddp_error *err) DDP_MUST_CHECK;

#endif
