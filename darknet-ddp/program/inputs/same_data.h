/* inputs/same_data.h: do all ranks read the same data? Ranks on hosts with disks of their own may
 * find other files under the same names.
 */
#ifndef DDP_INPUTS_SAME_DATA_H
#define DDP_INPUTS_SAME_DATA_H

#include "base/status.h"
#include "comm/group.h"

#include <stddef.h>

/* Which files, beside the pictures, say what is in them. */
typedef enum ddp_truth_files {
    DDP_TRUTH_NONE,
    DDP_TRUTH_LABELS, /* where Darknet looks for labels */
    DDP_TRUTH_MASKS   /* under mask/ in place of images/ */
} ddp_truth_files;

/* Of a train command of Darknet's, with this .data file. */
ddp_truth_files ddp_same_data_truth(const char *command, const char *data);

/* Do all ranks find pictures of the same sizes in bytes at paths[0..n), the same on all ranks, and
 * the same contents in their files of truth? Each rank looks for 10 seconds at most; what all have
 * looked at is compared. Files that are missing on all ranks are no error here. Blocks.
 * DDP_ERR_MISMATCH names the first file that differs; fails also with DDP_ERR_NOMEM, DDP_ERR_COMM.
 */
ddp_status ddp_same_data_agree(ddp_group *group, ddp_truth_files truth, char *const *paths,
                               size_t n, ddp_error *err) DDP_MUST_CHECK;

/* Do all ranks read the same options from the .data file of this command, if it has one? Names of
 * files may differ: it is their contents that count. Blocks. Fails as above. */
ddp_status ddp_same_data_agree_on_data(ddp_group *group, const char *command, const char *data,
                                       ddp_error *err) DDP_MUST_CHECK;

#endif
