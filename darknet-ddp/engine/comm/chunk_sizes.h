/* comm/chunk_sizes.h: how long chunks (comm/chunk.h) are, and how many are in flight. Neither
 * changes a bit of a sum, for each element has its own tree. But which elements are a rank's share
 * (ddp_work_share) depends on the length, since each chunk is cut into shares. Pure functions. */
#ifndef DDP_COMM_CHUNK_SIZES_H
#define DDP_COMM_CHUNK_SIZES_H

#include <stddef.h>

typedef struct ddp_chunks {
    size_t bytes; /* length of a chunk in bytes */
    int window;   /* chunks in flight at once, at most DDP_CHUNKS_MOST */
} ddp_chunks;

enum { DDP_CHUNKS_MOST = 16 }; /* most chunks in flight */

/* Return the sizes for ddp_allreduce_direct among `ranks` ranks. */
ddp_chunks ddp_direct_chunks(int ranks);
/* Return the sizes for ddp_allreduce_hierarchical among `ranks` ranks, of all hosts together. */
ddp_chunks ddp_hierarchical_chunks(int ranks, int hosts);

#endif
