/* core/rank_names.h: a set of ranks in words, with their hosts, for messages. */
#ifndef DDP_CORE_RANK_NAMES_H
#define DDP_CORE_RANK_NAMES_H

#include "comm/group.h"

#include <stddef.h>

/* Write the names of a set of ranks to out, as "rank 1 on hosta" or "ranks 1, 3, 4 and 9 more on
 * hosta, hostb". Cut at size bytes. Returns how many ranks the set has. in  an entry for each rank
 * of group, not 0 for those in the set */
int ddp_rank_names(const ddp_group *group, const char *in, char *out, size_t size);

#endif
