/* emulated/channel.h: connects the ranks of an emulated NCCL communicator by POSIX shared memory,
 * and does their collectives, with sums, and messages there. No function waits. */
#ifndef EMULATED_CHANNEL_H
#define EMULATED_CHANNEL_H

#include "nccl.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace emulated
{

constexpr int most_ranks = 16;

enum class operation { allreduce, reduce_scatter, allgather, broadcast, send, receive };

/* A collective or message, of the caller's rank, and how far it has come. */
struct transfer {
    operation what;
    const char *from;     /* data that this rank sends; null: none */
    char *to;             /* memory for the data that this rank receives; null: none */
    size_t bytes;         /* size of the data that a rank sends, or of the message */
    size_t element_bytes; /* size of an element */
    int peer;             /* the other rank of a message; root of a broadcast */
    bool average;         /* true: divide the sum by the number of ranks */
    bool bfloat16;        /* with element_bytes 2: true: elements are bfloat16; false: float16 */
    bool never_ends;      /* true: the transfer hangs, for tests */
    bool registered;      /* true: `to` (if null, `from`) is in memory registered with NCCL */
    uint64_t turn;        /* its place in the order of transfers, from channel::take_turn */
    size_t offset = 0;    /* bytes that have been moved */
    bool posted = false;  /* true: this rank has joined the next step of a collective */
    bool ended = false;
};

struct segment;

class channel
{
  public:
    /* Return a name for new shared memory. Remove memory left by processes that have ended. */
    static std::string new_name();
    /* Open the shared memory of that name, or make it if this is the first rank. There are `size`
     * ranks, at most most_ranks. Returns a channel, which the caller deletes, or nullptr if this
     * fails. The name disappears when all ranks have opened it, or one has left. */
    static channel *open(const std::string &name, int size, int rank);
    ~channel();

    /* Return the turn of a new transfer. Collectives run in the order in which they took turns; so
     * do messages to each rank, and messages from each rank. */
    uint64_t take_turn(const transfer &t);
    /* Move a transfer on, if its turn has come, and return true if it has ended; else call again.
     * A channel moves one transfer at a time: the caller locks. Ends the program if ranks call
     * different collectives, or pass different sizes, or only some registered memory. */
    bool advance(transfer &t);

    /* Return true if all ranks have opened the channel. */
    bool all_opened();
    /* Return true if a rank has aborted, or its process has ended without leave(). */
    bool has_lost_rank();
    /* Leave, before the channel is deleted. If `aborting`, other ranks count this one as lost. */
    void leave(bool aborting);

    const int size, rank;

  private:
    channel(const std::string &name, segment *s, size_t bytes, int size, int rank);
    uint64_t &next_turn(const transfer &t, bool done);
    bool advance_collective(transfer &t);
    void post(transfer &t, size_t length);
    void check_posted(const transfer &t);
    void collect(transfer &t, size_t length);
    bool advance_send(transfer &t);
    bool advance_receive(transfer &t);
    char *slot(uint64_t step, int of_rank);
    char *message(int from, int to);

    std::string name;
    segment *shared;
    size_t shared_bytes;
    uint64_t step = 0; /* steps that collectives have made; each moves a piece of a collective */
    /* Turns taken [0] and done [1], of queues: collectives; messages to rank 0, 1, ...; messages
     * from rank 0, 1, ... */
    uint64_t turns[2][1 + 2 * most_ranks] = {};
};

} // namespace emulated

#endif
