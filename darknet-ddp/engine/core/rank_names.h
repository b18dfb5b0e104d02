/* core/rank_names.h: a set of ranks in words, with their hosts, for messages. */
#ifndef DDP_CORE_RANK_NAMES_H
#define DDP_CORE_RANK_NAMES_H

#include "comm/group.h"

#include <stddef.h>

/* Write "rank 1 on hosta", or "ranks 1, 3, 4 and 9 more on hosta, hostb", of the ranks whose entry
 * in `in` is not 0: one entry a rank of group. Cut at size bytes. Returns how many there are. */
int ddp_rank_names(const ddp_group *group, const char *in, char *out, size_t size);

#endif
