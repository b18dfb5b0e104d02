/* transport/gloo_peer.h: what the files behind transport/gloo_link.h share: gloo_link.cpp (the
 * calls of a rank's own thread), gloo_adopt.cpp (connections), gloo_peer.cpp (a peer's thread) and
 * gloo_notes.cpp (notes, and failures). In C++; for these alone.
 *
 * A link has two kinds of locks: its own, of what all threads change, and one for each peer, of the
 * notes that go out to it. Neither is held while a thread waits. */
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

/* Of a wait of Gloo's that names no other. */
constexpr milliseconds gloo_timeout{6000};

/* A wait that only ends with what it waits for, a lost peer, or the link. */
constexpr milliseconds for_ever = std::chrono::hours(24 * 365);

/* Notes of a peer that have been asked for: what announces them then needs no answer first. */
constexpr int notes_ahead = 16;

constexpr uint64_t note_slot = 0;

enum note_kind : uint32_t { SENT = 1, TAKEN, GONE, GOODBYE };

struct note {
    uint32_t kind, tag; /* of GONE: who */
    uint64_t bytes;     /* of the message */
    uint64_t heard;     /* how many notes of its receiver the sender has had */
};

/* A note on its way. */
struct posted_note {
    uint64_t number;
    note content;
    std::unique_ptr<UnboundBuffer> buffer;
};

struct request {
    uint32_t tag = 0;
    uint64_t bytes = 0;
    std::unique_ptr<UnboundBuffer> buffer; /* none where bytes is 0 */
};

struct announcement {
    uint32_t tag;
    uint64_t bytes;
};

struct peer {
    int rank = 0;
    std::thread thread;
    std::atomic<bool> has_thread{false};
    bool ended = false; /* its thread's work */

    std::array<note, notes_ahead> notes;
    std::array<std::unique_ptr<UnboundBuffer>, notes_ahead> note_buffers;
    UnboundBuffer *waits_on = nullptr; /* what its thread waits on */
    bool waits_on_note = false;

    std::deque<int> sends;              /* not taken yet, as they were posted */
    std::deque<int> receives;           /* not announced yet */
    std::deque<int> late;               /* announced before they were posted */
    std::deque<announcement> announced; /* not posted yet */

    std::mutex out; /* of what follows */
    std::deque<std::unique_ptr<posted_note>> out_notes;
    std::unique_ptr<posted_note> goodbye;
    uint64_t out_count = 0;
    std::atomic<uint64_t> heard{0}; /* of our notes, by the peer */
    std::atomic<uint64_t> had{0};   /* of the peer's notes, here */
};

} // namespace ddp_gloo

struct ddp_gloo_link {
    int rank, size;
    std::shared_ptr<gloo::transport::tcp::Device> device;
    std::shared_ptr<gloo::transport::Context> context;
    std::vector<std::unique_ptr<ddp_gloo::peer>> peers; /* none of this rank's own */

    std::mutex lock; /* of what follows, and of each peer's lists and flags */
    std::condition_variable a_thread_ended;
    std::vector<ddp_gloo::request> requests;
    std::vector<int> ended;
    int in_flight = 0;
    bool leaving = false; /* a lost peer is no failure any more */
    bool stop = false;
    bool failing = false; /* failure is filled */
    bool failed = false;  /* and the others have been told */
    std::condition_variable others_told;
    ddp_gloo_failure failure{};
};

namespace ddp_gloo
{

/* ---- gloo_adopt.cpp ---- */

std::shared_ptr<gloo::transport::tcp::Device> make_device();

/* Make the context's pair with a rank, over this connection with it, which is closed with the pair,
 * or here where that fails: it throws. */
void adopt(ddp_gloo_link *x, int rank, int fd);

/* ---- gloo_notes.cpp: any of the threads ---- */

/* Queue a note for a peer; waits for nobody. */
void tell(ddp_gloo_link *x, peer &p, note_kind kind, uint32_t tag, uint64_t bytes);
std::unique_ptr<posted_note> new_note(ddp_gloo_link *x);

/* Fill failure with what Gloo threw, or with a text of ours. */
void describe(ddp_gloo_failure *failure, int rank, const char *what);

/* A rank is lost, or -1: something else. The others are told before the program hears of it, and
 * ends: so all name the same one. The first failure stays. */
void fail(ddp_gloo_link *x, int rank, const char *what);

/* Once the others have been told: *failure is the first one. Returns 0. */
int report(ddp_gloo_link *x, ddp_gloo_failure *failure);

/* The connection with a peer has ended: let its thread take what came before that, which may say
 * that another rank is the cause. It ends soon, for it waits on that connection. */
void hear_out(ddp_gloo_link *x, int rank);

std::runtime_error wrong_length(const announcement &came, uint64_t due);

/* Run what may throw about a peer. */
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

/* From here on the peer's notes are heard. */
void start_thread(ddp_gloo_link *x, peer &p);

} // namespace ddp_gloo

#endif
