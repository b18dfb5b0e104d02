/* inputs/list.h: checks that all ranks have the same list, and that its pictures can be read. */
#ifndef DDP_INPUTS_LIST_H
#define DDP_INPUTS_LIST_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* The identity of a list of pictures, to compare it. */
typedef struct ddp_list {
    uint64_t hash; /* XXH64 of the lines in their order */
    int count;     /* number of lines */
} ddp_list;

/* Check that the pictures of the n lines in paths exist and may be read. Rank r of N checks lines
 * r, r + N and so on, for 10 seconds at most; the end of a long list may go unchecked. `list`: the
 * file with the lines, for the error; NULL: there is none. On success it blocks until every rank
 * has looked. Fails with DDP_ERR_IO (this rank cannot read a picture; the error names its line),
 * DDP_ERR_COMM. */
ddp_status ddp_list_find(ddp_group *group, char *const *paths, size_t n, const char *list,
                         ddp_error *err) DDP_MUST_CHECK;

/* Check that the n lines of the training list in paths are the same on every rank. Fewer lines than
 * ranks, or none, are no error here. Blocks until every rank is here. *out is set in any case.
 * Fails with DDP_ERR_MISMATCH (another rank has another list), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_list_check(ddp_list *out, ddp_group *group, char *const *paths, int n,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
