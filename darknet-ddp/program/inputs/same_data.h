/* inputs/same_data.h: checks that all ranks read the same pictures (by their files' sizes), labels,
 * masks and .data file. Hosts with disks of their own may have other files under the same names. */
#ifndef DDP_INPUTS_SAME_DATA_H
#define DDP_INPUTS_SAME_DATA_H

#include "base/status.h"
#include "comm/group.h"

#include <stddef.h>

/* Kind of the file beside each picture that says what is in it: its truth. */
typedef enum ddp_truth_files {
    DDP_TRUTH_NONE,   /* pictures have no truth files */
    DDP_TRUTH_LABELS, /* label files, where Darknet looks for them */
    DDP_TRUTH_MASKS   /* mask files, under mask/ in place of images/ */
} ddp_truth_files;

/* Return which kind of truth files `darknet COMMAND train` reads. For a classifier, the .data file
 * at path `data` decides that: DDP_TRUTH_NONE if it cannot be read. */
ddp_truth_files ddp_same_data_truth(const char *command, const char *data);

/* Fail with DDP_ERR_MISMATCH, naming the first file that differs, if ranks have other pictures (by
 * size) at paths[0..n), or other truth files (by contents). Each rank looks for 10 seconds at most;
 * what all have seen is compared. A file that is missing on all ranks passes. The paths must be the
 * same on all ranks. Collective. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_same_data_agree(ddp_group *group, ddp_truth_files truth, char *const *paths,
                               size_t n, ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH if ranks have other values, or another order of keys, in the .data
 * file at path `data`, or only some can read it. A file that all fail to read for one reason
 * passes. Paths may differ, and so may backup= and results=. Does nothing if `command` takes no
 * .data file. Collective. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_same_data_agree_on_data(ddp_group *group, const char *command, const char *data,
                                       ddp_error *err) DDP_MUST_CHECK;

#endif
