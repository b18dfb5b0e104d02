/* inputs/data_files.h: notes the small files that decide what is learnt, such as trees and the
 * names of labels. Ranks compare these files, and checkpoints keep their hashes. */
#ifndef DDP_INPUTS_DATA_FILES_H
#define DDP_INPUTS_DATA_FILES_H

#include "base/status.h"
#include "checkpoint/checkpoint.h"
#include "comm/group.h"

#include <stddef.h>
#include <stdint.h>

/* Files that the run has read, with hashes of their contents. All zero is an empty list. */
typedef struct ddp_data_files {
    struct ddp_input *list;
    size_t count;
} ddp_data_files;

/* Add the file at path, and hash its contents. Both strings are copied. what: the file's key in the
 * .data file or the cfg, such as "labels". Fails with DDP_ERR_IO (the list stays as it was), or
 * with DDP_ERR_NOMEM (it can then only be released). */
ddp_status ddp_data_files_add(ddp_data_files *in, const char *what, const char *path,
                              ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_MISMATCH, naming the first file that differs, if ranks have other files in
 * their lists, by path or contents. Collective. Fails also with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_data_files_agree(const ddp_data_files *in, ddp_group *group,
                                ddp_error *err) DDP_MUST_CHECK;

/* Add to a checkpoint's metadata an option for each key (`what`) in the list, with a hash of its
 * files' contents. (So files may be renamed.) Fails with DDP_ERR_USAGE if metadata has no room. */
ddp_status ddp_data_files_remember(const ddp_data_files *in, ddp_checkpoint_metadata *metadata,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Free the list; it is empty then. */
void ddp_data_files_release(ddp_data_files *in);

#endif
