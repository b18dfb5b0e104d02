/* core/rank_names.h: a set of ranks in words, with their hosts, for messages. */
#ifndef DDP_CORE_RANK_NAMES_H
#define DDP_CORE_RANK_NAMES_H

#include "comm/group.h"

#include <stddef.h>

/* Write the names of a set of ranks to out, as "rank 1 on hosta" or "ranks 1, 3, 4 and 9 more on
 * hosta, hostb"; cut at size bytes. Returns how many ranks the set has. in[r], for each rank of
 * group: not 0 if the set has it. */
int ddp_rank_names(const ddp_group *group, const char *in, char *out, size_t size);

#endif
