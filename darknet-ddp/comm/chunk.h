/* comm/chunk.h: the sum of one chunk of a buffer over all ranks, as a state
 * machine that ended requests drive.
 *
 * Each rank sums one piece of the chunk. Piece r of every other rank goes to
 * rank r, which sums them in the order of sum.h.
 *   direct    the chunk is cut into `size` pieces, and the sums are sent to
 *             everybody afterwards: 2 (size-1)/size of the chunk's bytes each way
 *   whole     the piece is the whole chunk, on every rank: (size-1) times the
 *             bytes, but no second message. For 2 ranks, where the bytes are the
 *             same, and for small chunks, where bytes do not count.
 *
 * A chunk uses 2 (size-1) requests. The first half receives the peers' parts of
 * this rank's piece, and then sends its sum. The second half sends parts of the
 * peers' pieces, and then receives their sums into the same places, which is why
 * that cannot be posted earlier.
 *
 * What is summed is looked at in the same pass: the sum's `not_finite` becomes 1 where an element
 * is no finite number, on every rank. */
#ifndef DDP_COMM_CHUNK_H
#define DDP_COMM_CHUNK_H

#include "comm/exchange.h"

struct ddp_chunk {
    struct ddp_host_sum *sum; /* NULL: not in use */
    float *data;              /* within the sum's buffer */
    size_t count;
    uint32_t sequence; /* number of the chunk in the group: both ends' tag */
    int direct;
    int parts_left;    /* peers whose part of this rank's piece is missing */
    int requests_left; /* 0: the chunk is summed */
    int first_request;
    unsigned char *ended; /* for each request, how often it has ended */
    float *scratch;       /* the peers' parts */
    float **parts;        /* room for one pointer a rank */
};

/* Floats of scratch for chunks of up to `count` floats. */
size_t ddp_chunk_scratch(size_t count, int size);

/* Post the first messages. sum, data, count and sequence are set. */
ddp_status ddp_chunk_launch(ddp_group *g, struct ddp_chunk *c, ddp_error *err);

/* Request first_request + i has ended. */
ddp_status ddp_chunk_advance(ddp_group *g, struct ddp_chunk *c, int i, ddp_error *err);

/* Rank whose first message has not come, or -1. Such a rank is behind itself,
 * where one whose sum is late may wait for another. */
int ddp_chunk_behind(const ddp_group *g, const struct ddp_chunk *c);

/* Rank of some request that has not ended, or -1; *taking is set when the rank
 * has not taken a message, else it has not sent one. */
int ddp_chunk_waits_for(const ddp_group *g, const struct ddp_chunk *c, int *taking);

#endif
