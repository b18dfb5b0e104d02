/* core/rank_names.h: a set of ranks in words, with their hosts, for messages. */
#ifndef DDP_CORE_RANK_NAMES_H
#define DDP_CORE_RANK_NAMES_H

#include "comm/group.h"

#include <stddef.h>

/* Write the names of a set of ranks to out[0..size), cut there and ended by 0. At most six ranks
 * and two hosts are named: "rank 1 on hosta", or "ranks 1, 2, 3, 5, 6, 7 and 9 more on hosta, hostb
 * and 1 more". Returns how many ranks the set has. in[r], for each rank of group: not 0 if the set
 * has it. */
int ddp_rank_names(const ddp_group *group, const char *in, char *out, size_t size);

#endif
