/* core/rank_names.h: names some ranks and their hosts in words, for messages. */
#ifndef DDP_CORE_RANK_NAMES_H
#define DDP_CORE_RANK_NAMES_H

#include "comm/group.h"

#include <stddef.h>

/* Write the ranks r whose in[r] is not 0, with their hosts, to out[0..size). Returns how many they
 * are. At most six ranks and two hosts are named: "rank 1 on hosta", or "ranks 1, 2, 3, 5, 6, 7 and
 * 9 more on hosta, hostb and 1 more". A text that is too long is cut. */
int ddp_rank_names(const ddp_group *group, const char *in, char *out, size_t size);

#endif
