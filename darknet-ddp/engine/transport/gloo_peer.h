/* transport/gloo_peer.h: the structs and functions that the files behind transport/gloo_link.h
 * share, in C++. These are gloo_link.cpp (the calls of the rank's own thread), gloo_adopt.cpp
 * (connections), gloo_peer.cpp (a peer's thread) and gloo_notes.cpp (failures, and notes: short
 * messages on what was sent or taken).
 *
 * Locks: the link's, for members that all its threads change, and one for each peer, for the notes
 * that go out to it. No thread holds one while it waits. */
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

/* The timeout of waits that may last for ever, unless they are aborted or the peer is lost. */
constexpr milliseconds for_ever = std::chrono::hours(24 * 365);

/* Receives that are posted in advance for a peer's notes, so that the peer can send at any time. */
constexpr int notes_ahead = 16;

constexpr uint64_t note_slot = 0; /* slot of all notes; Gloo matches sends and receives by slots */

enum note_kind : uint32_t { SENT = 1, TAKEN, GONE, GOODBYE };

/* A note: a short message between the threads of two ranks about their messages. */
struct note {
    uint32_t kind;
    uint32_t tag;      /* tag of the message; with GONE, the lost rank */
    uint64_t bytes;    /* bytes of the message */
    uint64_t received; /* how many notes the sender had received from the rank that gets this one */
};

/* A note that is being sent. */
struct posted_note {
    uint64_t number; /* how many notes were sent to the same peer before */
    note content;
    std::unique_ptr<UnboundBuffer> buffer; /* Gloo's handle to send `content` */
};

/* A message that this rank has posted. */
struct request {
    uint32_t tag = 0;
    uint64_t bytes = 0;
    std::unique_ptr<UnboundBuffer> buffer; /* memory of the message; empty if bytes is 0 */
};

/* A message, as a note from another rank names it. */
struct announcement {
    uint32_t tag;
    uint64_t bytes;
};

/* Another rank, with the thread that serves it. */
struct peer {
    int rank = 0;
    std::thread thread;
    std::atomic<bool> has_thread{false};
    bool ended = false; /* the thread has returned, or is about to */

    std::array<note, notes_ahead> notes;
    std::array<std::unique_ptr<UnboundBuffer>, notes_ahead> note_buffers;
    UnboundBuffer *waits_on = nullptr; /* buffer that the thread waits on, or last did; or null */
    bool waits_on_note = false;        /* waits_on is the buffer of a note */

    /* Numbers of requests with this peer, in the order of posting. */
    std::deque<int> sends;              /* sends that the peer has not taken yet */
    std::deque<int> receives;           /* receives whose message is not announced yet */
    std::deque<int> late;               /* receives posted after the peer announced the message */
    std::deque<announcement> announced; /* announced messages that have no receive yet */

    std::mutex out; /* protects the next three members */
    std::deque<std::unique_ptr<posted_note>> out_notes;
    std::unique_ptr<posted_note> goodbye;
    uint64_t out_count = 0;             /* number of notes sent to the peer */
    std::atomic<uint64_t> confirmed{0}; /* number of our notes known to have reached the peer */
    std::atomic<uint64_t> received{0};  /* notes received from the peer */
};

} // namespace ddp_gloo

/* The connections of a rank with all others. */
struct ddp_gloo_link {
    int rank, size;
    std::shared_ptr<gloo::transport::tcp::Device> device;
    std::shared_ptr<gloo::transport::Context> context;
    std::vector<std::unique_ptr<ddp_gloo::peer>>
        peers; /* peers by rank; this rank's own is empty */

    std::mutex lock; /* protects the members below, and each peer's lists and flags */
    std::condition_variable a_thread_ended;
    std::vector<ddp_gloo::request> requests;
    std::vector<int> ended; /* ended requests that ddp_gloo_test has not returned yet */
    int in_flight = 0;      /* posted requests that ddp_gloo_test has not returned yet */
    bool leaving = false;   /* true: this rank closes the link, so a lost peer is no failure */
    bool stop = false;      /* true: the peers' threads must end */
    bool failing = false;   /* true: the link has failed, and `failure` says how */
    bool failed = false;    /* true: also, the other ranks were told which rank is lost, if any */
    std::condition_variable others_told;
    ddp_gloo_failure failure{};
};

namespace ddp_gloo
{

/* ---- gloo_adopt.cpp ---- */

/* Make the device of Gloo that all connections of a link share. Throws on failure. */
std::shared_ptr<gloo::transport::tcp::Device> make_device();

/* Have Gloo use the TCP connection fd for its messages with a rank. Takes fd over; on failure
 * closes it and throws. */
void adopt(ddp_gloo_link *x, int rank, int fd);

/* ---- gloo_notes.cpp: called on any thread ---- */

/* Send a note to p without waiting. tag, bytes: those of the message that the note is about. Throws
 * if the connection is lost. */
void tell(ddp_gloo_link *x, peer &p, note_kind kind, uint32_t tag, uint64_t bytes);
/* Make an empty note, with Gloo's buffer over its content. */
std::unique_ptr<posted_note> new_note(ddp_gloo_link *x);

/* Set *failure to `rank` (-1: none) and to the sentence `what`. Leave out the places in Gloo's
 * source and the peer's address that Gloo has put into the sentence. */
void describe(ddp_gloo_failure *failure, int rank, const char *what);

/* Record a failure: the lost rank, or -1 for other failures, and why. Only the first one is kept,
 * and none once x->leaving is set. If a rank is lost, tells the other ranks before this rank's
 * program learns of it, so that all name the same rank. */
void fail(ddp_gloo_link *x, int rank, const char *what);

/* Set *failure to the recorded failure, after waiting until the other ranks have been told of it.
 * If none is recorded, does not wait; *failure becomes all zero. Returns 0. */
int report(ddp_gloo_link *x, ddp_gloo_failure *failure);

/* Wait up to 6 s until the thread that serves lost peer `rank` has ended. It reads the notes that
 * had arrived, which may name another rank as the cause. Does not wait if called on that thread. */
void hear_out(ddp_gloo_link *x, int rank);

/* Return the exception for a message that has another length than the `due` bytes. */
std::runtime_error wrong_length(const announcement &came, uint64_t due);

/* Run f, and return 1. If it throws, record a failure of `rank` (-1: of none) and return 0 with
 * *failure set. That may take 6 s (hear_out). */
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
