/* inputs/list.h: lists of pictures, which every rank has whole. */
#ifndef DDP_INPUTS_LIST_H
#define DDP_INPUTS_LIST_H

#include "base/status.h"
#include "comm/group.h"

#include <stdint.h>

/* What tells one list from another. */
typedef struct ddp_list {
    uint64_t hash; /* of the lines, in their order (XXH64) */
    int count;     /* lines */
} ddp_list;

/* See that the pictures of the n lines in paths are there and may be read. Ranks share the search:
 * rank r of N looks for lines r, r + N, ..., for 10 seconds at most, so a very long list is not
 * searched to its end. list: its file; NULL: it has none. Blocks until every rank has found its
 * pictures. Fails with DDP_ERR_IO (this rank cannot read a picture; the error names it and its
 * line), DDP_ERR_COMM. */
ddp_status ddp_list_find(ddp_group *group, char *const *paths, size_t n, const char *list,
                         ddp_error *err) DDP_MUST_CHECK;

/* See that the n lines of the training list in paths are the same on every rank. Fewer lines than
 * ranks, or none, are no error here. Blocks until every rank is here. *out is set in any case.
 * Fails with DDP_ERR_MISMATCH (another list on another rank), DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_list_check(ddp_list *out, ddp_group *group, char *const *paths, int n,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
