/* comm/chunk_sizes.h: how long the chunks of a sum are, and how many are in flight (comm/chunk.h).
 * Neither changes the bits of a sum. But a rank's share of a sum (ddp_work_share) is made of slices
 * of the chunks, so their length decides which elements it has. Pure functions. */
#ifndef DDP_COMM_CHUNK_SIZES_H
#define DDP_COMM_CHUNK_SIZES_H

#include <stddef.h>

typedef struct ddp_chunks {
    size_t bytes; /* length of a chunk */
    int window;   /* most chunks in flight at once, up to DDP_CHUNKS_MOST */
} ddp_chunks;

enum { DDP_CHUNKS_MOST = 16 }; /* most chunks in flight */

/* Return the sizes for ddp_allreduce_direct among `ranks` ranks. */
ddp_chunks ddp_direct_chunks(int ranks);
/* Return the sizes for ddp_allreduce_hierarchical among `ranks` ranks on `hosts` hosts. */
ddp_chunks ddp_hierarchical_chunks(int ranks, int hosts);

#endif
