/* transport/gloo_peer.h: what the files behind transport/gloo_link.h share: gloo_link.cpp (the
 * calls of a rank's own thread), gloo_adopt.cpp (connections), gloo_peer.cpp (a peer's thread) and
 * gloo_notes.cpp (notes, and failures). In C++; for these alone.
 *
 * A link has two kinds of locks: its own, for what all threads change, and one for each peer, for
 * the notes that go out to it. A thread holds neither while it waits. */
#ifndef DDP_TRANSPORT_GLOO_PEER_H
#define DDP_TRANSPORT_GLOO_PEER_H

#include "transport/gloo_link.h"

#include <gloo/common/error.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ddp_gloo
{

using gloo::transport::UnboundBuffer;
using std::chrono::milliseconds;

/* Gloo's timeout for waits that name no other. */
constexpr milliseconds gloo_timeout{6000};

/* The timeout of a wait that ends only when its event comes, a peer is lost or the link closes. */
constexpr milliseconds for_ever = std::chrono::hours(24 * 365);

/* How many receives are posted in advance for the notes of a peer, so that the peer can send at any
 * time. */
constexpr int notes_ahead = 16;

constexpr uint64_t note_slot = 0;

enum note_kind : uint32_t { SENT = 1, TAKEN, GONE, GOODBYE };

struct note {
    uint32_t kind, tag; /* tag: the message's number for matching; with GONE, the lost rank */
    uint64_t bytes;     /* bytes of the message */
    uint64_t heard;     /* how many notes the sender of this one has had from its receiver */
};

/* A note (a short message about messages) that is being sent. */
struct posted_note {
    uint64_t number;
    note content;
    std::unique_ptr<UnboundBuffer> buffer;
};

struct request {
    uint32_t tag = 0;
    uint64_t bytes = 0;
    std::unique_ptr<UnboundBuffer> buffer; /* memory of the message; empty if bytes is 0 */
};

struct announcement {
    uint32_t tag;
    uint64_t bytes;
};

struct peer {
    int rank = 0;
    std::thread thread;
    std::atomic<bool> has_thread{false};
    bool ended = false; /* the thread has returned, or is about to */

    std::array<note, notes_ahead> notes;
    std::array<std::unique_ptr<UnboundBuffer>, notes_ahead> note_buffers;
    UnboundBuffer *waits_on = nullptr; /* buffer that the thread waits on */
    bool waits_on_note = false;

    /* requests that send to this peer, which has not taken them yet, in the order of posting */
    std::deque<int> sends;
    std::deque<int> receives; /* requests that receive, whose message is not announced yet */
    std::deque<int>
        late; /* requests that receive, posted when their message was announced already */
    std::deque<announcement> announced; /* announced messages that nobody has asked for yet */

    std::mutex out; /* protects the members below */
    std::deque<std::unique_ptr<posted_note>> out_notes;
    std::unique_ptr<posted_note> goodbye;
    uint64_t out_count = 0;
    std::atomic<uint64_t> heard{0}; /* how many of our notes the peer has had */
    std::atomic<uint64_t> had{0};   /* how many of the peer's notes we have had */
};

} // namespace ddp_gloo

struct ddp_gloo_link {
    int rank, size;
    std::shared_ptr<gloo::transport::tcp::Device> device;
    std::shared_ptr<gloo::transport::Context> context;
    std::vector<std::unique_ptr<ddp_gloo::peer>>
        peers; /* peers by rank; this rank's own is empty */

    std::mutex lock; /* protects the members below, and each peer's lists and flags */
    std::condition_variable a_thread_ended;
    std::vector<ddp_gloo::request> requests;
    std::vector<int> ended; /* requests that have ended and that ddp_gloo_test has not told of */
    int in_flight = 0;      /* posted requests that ddp_gloo_test has not told of */
    bool leaving = false;   /* this rank takes leave: a lost peer is no failure */
    bool stop = false;      /* the peers' threads are to return */
    bool failing = false;   /* `failure` is filled */
    bool failed = false;    /* the other ranks have been told of the failure */
    std::condition_variable others_told;
    ddp_gloo_failure failure{};
};

namespace ddp_gloo
{

/* ---- gloo_adopt.cpp ---- */

/* Make Gloo's device, which the connections of a link share. Throws on failure. */
std::shared_ptr<gloo::transport::tcp::Device> make_device();

/* Connect the context with a rank over the TCP connection fd, which Gloo then owns. Throws, and
 * closes fd, on failure. */
void adopt(ddp_gloo_link *x, int rank, int fd);

/* ---- gloo_notes.cpp: called on any thread ---- */

/* Queue a note for p and return at once. tag, bytes: those of the message that the note is about.
 * Throws if the connection is gone. */
void tell(ddp_gloo_link *x, peer &p, note_kind kind, uint32_t tag, uint64_t bytes);
/* Make an empty note, with Gloo's buffer over its content. */
std::unique_ptr<posted_note> new_note(ddp_gloo_link *x);

/* Fill *failure with a rank (-1: none) and the sentence `what`. */
void describe(ddp_gloo_failure *failure, int rank, const char *what);

/* Record a failure: a lost rank, or -1 for anything else, and why. Tell the other ranks before this
 * rank's program hears of it, so that all name the same rank. Only the first failure is kept. */
void fail(ddp_gloo_link *x, int rank, const char *what);

/* Wait until the other ranks have been told of the failure, and set *failure to the first one.
 * Returns 0. */
int report(ddp_gloo_link *x, ddp_gloo_failure *failure);

/* Wait, 6 s at most, for the end of a peer's thread, after the end of the peer's connection. Before
 * its end the thread takes what had arrived, which may say that another rank is the cause. */
void hear_out(ddp_gloo_link *x, int rank);

/* Make the exception for a message that came with another length than `due` bytes. */
std::runtime_error wrong_length(const announcement &came, uint64_t due);

/* Run f, and return 1. If it throws, record a failure of `rank` and return 0 with *failure set. */
template <typename work> int guarded(ddp_gloo_link *x, int rank, ddp_gloo_failure *failure, work f)
{
    try {
        f();
        return 1;
    } catch (const gloo::IoException &e) {
        if (rank >= 0)
            hear_out(x, rank);
        fail(x, rank, e.what());
    } catch (const std::exception &e) {
        fail(x, rank, e.what());
    } catch (...) {
        fail(x, rank, "unknown error");
    }
    return report(x, failure);
}

/* ---- gloo_peer.cpp ---- */

/* Start the thread that receives the notes of p, and waits for its messages. */
void start_thread(ddp_gloo_link *x, peer &p);

} // namespace ddp_gloo

#endif
