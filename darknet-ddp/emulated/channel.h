/* A channel connects the ranks of an emulated NCCL communicator: a segment of POSIX shared memory,
 * and steps of collectives and of messages through it. Nothing here waits: a step that cannot be
 * made yet returns false. */
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

/* One call, and how far it has come. */
struct transfer {
    operation what;
    const char *from;
    char *to;
    size_t bytes; /* that each rank hands in */
    size_t element_bytes;
    int peer; /* rank of a message, root of a broadcast */
    bool average;
    bool brain;      /* elements of 16 bits are bfloat16, not float16 */
    bool broken;     /* true: the transfer never ends */
    bool registered; /* true: its memory is registered, on this rank */
    uint64_t turn;
    size_t offset = 0;
    bool posted = false;
    bool ended = false;
};

struct segment;

class channel
{
  public:
    static std::string new_name();
    /* Open or make the segment of that name. Returns nullptr if that is not possible. */
    static channel *open(const std::string &name, int size, int rank);
    ~channel();

    /* Return the turn of a new transfer: collectives take turns, and so do messages to, and from,
     * each rank. */
    uint64_t take_turn(const transfer &t);
    /* Move a transfer along. Returns true when it has ended. Two threads must not call it at a
     * time. */
    bool advance(transfer &t);

    bool everybody_came();
    /* Return true if a rank has aborted, or its process has ended other than by leave. */
    bool lost_a_rank();
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
    uint64_t step = 0;                          /* steps of all collectives so far */
    uint64_t turns[2][1 + 2 * most_ranks] = {}; /* taken, and done */
};

} // namespace emulated

#endif
