/* inputs/data_files.h: files that say what the data of a run mean: labels, trees, maps. Ranks
 * compare them, and checkpoints remember them, since they decide what is learnt. */
#ifndef DDP_INPUTS_DATA_FILES_H
#define DDP_INPUTS_DATA_FILES_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"
#include "comm/group.h"

#include <stddef.h>
#include <stdint.h>

/* Files that the run has read, with their contents' hashes. All zero: none yet. */
typedef struct ddp_data_files {
    struct ddp_input *list;
    size_t count;
} ddp_data_files;

/* Add the file at path. what: what the run reads from it, such as "labels". Both strings
 * are copied, and the contents of the file are hashed. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_data_files_add(ddp_data_files *in, const char *what, const char *path,
                              ddp_error *err) DDP_MUST_CHECK;

/* Compare the files of all ranks. Blocks until all have called it. Fails with DDP_ERR_MISMATCH,
 * naming the first file that differs, DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_data_files_agree(const ddp_data_files *in, ddp_group *group,
                                ddp_error *err) DDP_MUST_CHECK;

/* Add an option for each `what` to metadata, for a checkpoint to remember. Its value is the hash of
 * the contents, so files may be renamed. Fails with DDP_ERR_USAGE if metadata has no room. */
ddp_status ddp_data_files_remember(const ddp_data_files *in, ddp_checkpoint_metadata *metadata,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Free the list; it is empty then. */
void ddp_data_files_release(ddp_data_files *in);

#endif
