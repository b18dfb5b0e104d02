/* emulated/channel.h: connects the ranks of an emulated NCCL communicator by a segment of POSIX
 * shared memory, and moves collectives and messages through it. Nothing here waits: if a step
 * cannot be made yet, the function returns false. */
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

/* A collective or a message that was called, and how far it has come. */
struct transfer {
    operation what;
    const char *from;     /* bytes that this rank hands in */
    char *to;             /* place of the bytes that this rank receives */
    size_t bytes;         /* bytes that each rank hands in */
    size_t element_bytes; /* bytes of an element of the call's type */
    int peer;             /* the other rank of a message; root of a broadcast */
    bool average;
    bool brain;          /* true: elements of 16 bits are bfloat16; false: float16 */
    bool broken;         /* true: the transfer never ends, to test hangs */
    bool registered;     /* true: this rank has registered its memory */
    uint64_t turn;       /* number among transfers of one kind (take_turn) */
    size_t offset = 0;   /* bytes that have been moved so far */
    bool posted = false; /* true: this rank has handed in its next bytes */
    bool ended = false;
};

struct segment;

class channel
{
  public:
    /* Return a name for a new segment, and remove segments of processes that have ended. */
    static std::string new_name();
    /* Open the segment of that name, or make it if it does not exist yet, for one of `size` ranks,
     * at most most_ranks. Returns a channel, which the caller deletes; nullptr if that fails. The
     * segment's name is removed when all `size` ranks have opened it. */
    static channel *open(const std::string &name, int size, int rank);
    ~channel();

    /* Return the turn of a new transfer. Collectives take turns in the order of these calls, and so
     * do messages to each rank, and from each. */
    uint64_t take_turn(const transfer &t);
    /* Move a transfer along when its turn has come; true: it has ended. Ends the program if ranks
     * call different collectives, sizes or kinds of memory. One thread at a time. */
    bool advance(transfer &t);

    /* Return true if all ranks have opened the segment. */
    bool everybody_came();
    /* Return true if a rank has aborted, or its process has ended without leave(). */
    bool lost_a_rank();
    /* Note that this rank leaves, by an abort or not. */
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
    uint64_t step = 0; /* steps that all collectives so far have made */
    /* [0]: turns taken; [1]: turns done. In each: of collectives, of messages to each rank, then of
     * messages from each */
    uint64_t turns[2][1 + 2 * most_ranks] = {};
};

} // namespace emulated

#endif
