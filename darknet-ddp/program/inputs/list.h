/* inputs/list.h: checks that ranks have the same training list, and that pictures can be read. */
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

/* Check that the n pictures in paths can be read. Ranks share the work, for 10 seconds at most; the
 * end of a long list may stay unchecked. A rank that finds an unreadable one fails with DDP_ERR_IO,
 * and must end the job, since other ranks wait for it. Collective. Fails also with DDP_ERR_NOMEM,
 * DDP_ERR_COMM. list: path of the file with the list, for the error; NULL: none. */
ddp_status ddp_list_check_pictures(ddp_group *group, char *const *paths, size_t n, const char *list,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Set *out to count and hash of the training list, n lines in paths. Then fail with
 * DDP_ERR_MISMATCH if the list is not the same on every rank. Collective. Fails also with
 * DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_list_agree(ddp_list *out, ddp_group *group, char *const *paths, int n,
                          ddp_error *err) DDP_MUST_CHECK;

#endif
