/* comm/chunk_sizes.h: how long chunks (comm/chunk.h) are, and how many are in flight. Pure
 * functions. */
#ifndef DDP_COMM_CHUNK_SIZES_H
#define DDP_COMM_CHUNK_SIZES_H

#include "comm/group.h"

/* What suits each algorithm, and what it can take. */
ddp_chunk_limits ddp_direct_chunks(int ranks);
ddp_chunk_limits ddp_hierarchical_chunks(int ranks, int hosts);

/* What is made of a wish: where it is 0 what suits, else what is nearest to it within the limits,
 * and in whole lines of memory. */
ddp_chunks ddp_chunks_within(const ddp_chunk_limits *limits, ddp_chunks wish);

#endif
