#include "comm/chunk_sizes.h"

#include "comm/chunk.h"

/* Measured on two hosts, of one rank, with 1 and 4 Gbit/s between them, 102 MB in 5 sums: with 8
 * MiB in flight the link stays full, also when polled only every 10 ms. Smaller chunks cost more
 * polls, larger ones leave the link idle at the ends. But of many ranks each sums a small piece,
 * and a message costs as much CPU time as some 10 KB: then chunks are larger, and fewer. More than
 * two ranks that send directly have several peers on one line, which does not share itself evenly:
 * with more in flight some peers get ahead and wait for those behind. On four hosts sums take 1.0%
 * less time with 3 MiB than with 8 at 1 Gbit/s, and steps of replayed layers 5% less at 4. With
 * more than 6 ranks, LEAST_WINDOW chunks hold more than these 3 MiB. By levels chunks of 1 MiB take
 * 3% less time a step on 2 hosts of 2 ranks at 1 Gbit/s than chunks of 512 KiB, and 3% less for
 * sums alone on 4 of 2 at 4; there chunks of 2 MiB take 6% less, but steps at 1 Gbit/s 4% more. */
enum {
    SHORTEST_CHUNK_BYTES = DDP_CHUNK_MESSAGE_BYTES,
    LEAST_WINDOW = 4,

    DIRECT_IN_FLIGHT_BYTES_OF_TWO = 8 << 20,
    DIRECT_IN_FLIGHT_BYTES = 3 << 20,
    DIRECT_PIECE_BYTES = 128 << 10, /* of a rank, in a chunk that is larger for many ranks' sake */
    DIRECT_LONGEST_CHUNK_BYTES = 8 << 20,

    HIERARCHICAL_IN_FLIGHT_BYTES = 8 << 20,
    HIERARCHICAL_IN_FLIGHT_BYTES_OF_ONE_HOST = 4 << 20,
    HIERARCHICAL_PIECE_BYTES = 64 << 10,
    HIERARCHICAL_SHORTEST_CHUNK_BYTES = 1 << 20, /* of several hosts */
    HIERARCHICAL_LONGEST_CHUNK_BYTES = 4 << 20
};

static size_t between(size_t bytes, size_t least, size_t most)
{
    if (bytes < least)
        return least;
    return bytes > most ? most : bytes;
}

_Static_assert((int)DIRECT_IN_FLIGHT_BYTES_OF_TWO <= (int)SHORTEST_CHUNK_BYTES * DDP_CHUNKS_MOST
                   && (int)HIERARCHICAL_IN_FLIGHT_BYTES
                          <= (int)SHORTEST_CHUNK_BYTES * DDP_CHUNKS_MOST,
               "more than DDP_CHUNKS_MOST in flight");

static ddp_chunks choose(size_t bytes, size_t longest_bytes, size_t in_flight_bytes)
{
    ddp_chunks c = {.bytes = between(bytes, SHORTEST_CHUNK_BYTES, longest_bytes)};

    c.window = (int)(in_flight_bytes / c.bytes);
    if (c.window < LEAST_WINDOW)
        c.window = LEAST_WINDOW;
    return c;
}

ddp_chunks ddp_direct_chunks(int ranks)
{
    return choose((size_t)ranks * DIRECT_PIECE_BYTES, DIRECT_LONGEST_CHUNK_BYTES,
                  ranks > 2 ? DIRECT_IN_FLIGHT_BYTES : DIRECT_IN_FLIGHT_BYTES_OF_TWO);
}

ddp_chunks ddp_hierarchical_chunks(int ranks, int hosts)
{
    size_t bytes = between((size_t)ranks * HIERARCHICAL_PIECE_BYTES,
                           HIERARCHICAL_SHORTEST_CHUNK_BYTES, HIERARCHICAL_LONGEST_CHUNK_BYTES);

    if (hosts == 1) /* which has no messages */
        return choose(SHORTEST_CHUNK_BYTES, HIERARCHICAL_LONGEST_CHUNK_BYTES,
                      HIERARCHICAL_IN_FLIGHT_BYTES_OF_ONE_HOST);
    return choose(bytes, HIERARCHICAL_LONGEST_CHUNK_BYTES, HIERARCHICAL_IN_FLIGHT_BYTES);
}
