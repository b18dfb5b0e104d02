#include "transport/gloo_link.h"

#include <gloo/common/error.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <signal.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

using gloo::transport::UnboundBuffer;
using std::chrono::milliseconds;

/* Gloo takes five times this to connect, and this where a wait names no other. */
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

uint64_t slot_of(uint32_t tag, uint64_t bytes)
{
    return (uint64_t{1} + tag) << 40 | bytes;
}

/* Threads made meanwhile never run the program's signal handlers. */
class without_signals
{
  public:
    without_signals()
    {
        sigset_t all;

        sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~without_signals()
    {
        (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    without_signals(const without_signals &) = delete;
    without_signals &operator=(const without_signals &) = delete;

  private:
    sigset_t before;
};

} // namespace

struct ddp_gloo_link {
    int rank, size;
    std::shared_ptr<gloo::transport::Device> device;
    std::shared_ptr<gloo::transport::Context> context;
    std::vector<std::unique_ptr<peer>> peers; /* none of this rank's own */

    std::mutex lock; /* of what follows, and of each peer's lists and flags */
    std::condition_variable a_thread_ended;
    std::vector<request> requests;
    std::vector<int> ended;
    int in_flight = 0;
    bool leaving = false; /* a lost peer is no failure any more */
    bool stop = false;
    bool failing = false; /* failure is filled */
    bool failed = false;  /* and the others have been told */
    std::condition_variable others_told;
    ddp_gloo_failure failure{};
};

namespace
{

/* ---- failures ---- */

/* Gloo begins with where in its source it threw. */
void describe(ddp_gloo_failure *failure, int rank, const char *what)
{
    if (what[0] == '[') {
        const char *text = std::strstr(what, "] ");

        what = text ? text + 2 : what;
    }
    failure->peer = rank;
    (void)std::snprintf(failure->text, sizeof failure->text, "%s", what);
}

/* Returns whether it is the first, which is the cause of those that follow. */
bool keep(ddp_gloo_link *x, int rank, const char *what)
{
    std::lock_guard<std::mutex> hold(x->lock);

    if (x->failing || x->leaving)
        return false;
    x->failing = true;
    describe(&x->failure, rank, what);
    return true;
}

void tell(ddp_gloo_link *x, peer &p, note_kind kind, uint32_t tag, uint64_t bytes);

void tell_others(ddp_gloo_link *x, int rank)
{
    for (auto &p : x->peers) {
        if (!p || p->rank == rank || !p->has_thread)
            continue;
        try {
            tell(x, *p, GONE, (uint32_t)rank, 0);
        } catch (...) {
            /* it is gone, too */
        }
    }
}

/* The others are told before the program hears of it, and ends: so all name the same one. */
void fail(ddp_gloo_link *x, int rank, const char *what)
{
    if (!keep(x, rank, what))
        return;
    if (rank >= 0)
        tell_others(x, rank);
    std::lock_guard<std::mutex> hold(x->lock);
    x->failed = true;
    x->others_told.notify_all();
}

int report(ddp_gloo_link *x, ddp_gloo_failure *failure)
{
    std::unique_lock<std::mutex> hold(x->lock);

    x->others_told.wait(hold, [&] { return x->failed || !x->failing; });
    *failure = x->failure;
    return 0;
}

/* The connection with a peer has ended: let its thread take what came before that, which may say
 * that another rank is the cause. It ends soon, for it waits on that connection. */
void hear_out(ddp_gloo_link *x, int rank)
{
    std::unique_lock<std::mutex> hold(x->lock);
    const peer &p = *x->peers[(size_t)rank];

    if (p.has_thread && p.thread.get_id() != std::this_thread::get_id())
        (void)x->a_thread_ended.wait_for(hold, gloo_timeout, [&] { return p.ended; });
}

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

std::runtime_error wrong_length(const announcement &came, uint64_t due)
{
    return std::runtime_error("it sent " + std::to_string(came.bytes) + " bytes where "
                              + std::to_string(due) + " are due");
}

/* ---- notes ---- */

std::unique_ptr<posted_note> new_note(ddp_gloo_link *x)
{
    auto n = std::make_unique<posted_note>();

    n->buffer = x->context->createUnboundBuffer(&n->content, sizeof n->content);
    return n;
}

/* Those that the peer has had are used again. */
posted_note *next_note(ddp_gloo_link *x, peer &p)
{
    std::unique_ptr<posted_note> n;

    if (!p.out_notes.empty() && p.out_notes.front()->number < p.heard) {
        n = std::move(p.out_notes.front());
        p.out_notes.pop_front();
    } else {
        n = new_note(x);
    }
    p.out_notes.push_back(std::move(n));
    return p.out_notes.back().get();
}

void tell(ddp_gloo_link *x, peer &p, note_kind kind, uint32_t tag, uint64_t bytes)
{
    std::lock_guard<std::mutex> hold(p.out);
    posted_note *n = next_note(x, p);

    n->number = p.out_count++;
    n->content = {kind, tag, bytes, p.had};
    n->buffer->send(p.rank, note_slot);
}

/* ---- the thread of a peer ---- */

/* Say what the thread is about to wait on, so that it can be woken. Returns 0 where the link is at
 * its end. */
bool about_to_wait(ddp_gloo_link *x, peer &p, UnboundBuffer *buffer, bool is_note)
{
    p.waits_on = buffer;
    p.waits_on_note = is_note;
    return !x->stop;
}

/* The data of a message that both sides have posted. */
bool take(ddp_gloo_link *x, peer &p, int number)
{
    UnboundBuffer *buffer;
    announcement what;

    {
        std::lock_guard<std::mutex> hold(x->lock);
        const request &r = x->requests[(size_t)number];

        buffer = r.buffer.get();
        what = {r.tag, r.bytes};
        if (!about_to_wait(x, p, buffer, false))
            return false;
    }
    while (buffer && !buffer->waitRecv(nullptr, for_ever)) {
        std::lock_guard<std::mutex> hold(x->lock);

        if (x->stop)
            return false;
    }
    tell(x, p, TAKEN, what.tag, what.bytes);
    std::lock_guard<std::mutex> hold(x->lock);
    x->ended.push_back(number);
    p.waits_on = nullptr; /* the request's, which may go now */
    return true;
}

/* Of the requests in the list, the first with the tag; -1: there is none. */
int pick(const ddp_gloo_link *x, std::deque<int> &list, uint32_t tag)
{
    auto found = std::find_if(list.begin(), list.end(),
                              [&](int i) { return x->requests[(size_t)i].tag == tag; });
    int number;

    if (found == list.end())
        return -1;
    number = *found;
    list.erase(found);
    return number;
}

bool hear_sent(ddp_gloo_link *x, peer &p, const announcement &what)
{
    int number;

    {
        std::lock_guard<std::mutex> hold(x->lock);

        number = pick(x, p.receives, what.tag);
        if (number < 0)
            p.announced.push_back(what);
        else if (x->requests[(size_t)number].bytes != what.bytes)
            throw wrong_length(what, x->requests[(size_t)number].bytes);
    }
    return number < 0 || take(x, p, number);
}

void hear_taken(ddp_gloo_link *x, peer &p, const announcement &what)
{
    std::lock_guard<std::mutex> hold(x->lock);
    int number = pick(x, p.sends, what.tag);

    if (number < 0)
        throw std::runtime_error("it has taken what was not sent");
    x->ended.push_back(number);
}

/* Wait for the note, and meanwhile for the data of requests that came late. */
bool wait_for_note(ddp_gloo_link *x, peer &p, size_t place)
{
    UnboundBuffer *buffer = p.note_buffers[place].get();

    for (;;) {
        int late = -1;

        {
            std::lock_guard<std::mutex> hold(x->lock);

            if (!p.late.empty()) {
                late = p.late.front();
                p.late.pop_front();
            } else if (!about_to_wait(x, p, buffer, true)) {
                return false;
            }
        }
        if (late >= 0 && !take(x, p, late))
            return false;
        if (late < 0 && buffer->waitRecv(nullptr, for_ever))
            return true;
    }
}

void listen(ddp_gloo_link *x, peer &p)
{
    for (size_t i = 0;; i++) {
        size_t place = i % notes_ahead;
        note n;

        if (!wait_for_note(x, p, place))
            return;
        n = p.notes[place];
        p.heard = std::max<uint64_t>(p.heard, n.heard);
        p.had++;
        if (n.kind == GOODBYE)
            return;
        if (n.kind == GONE && n.tag >= (uint32_t)x->size)
            throw std::runtime_error("it has lost a rank that there is not");
        if (n.kind == GONE) /* first: the peer may have ended for it by now */
            fail(x, (int)n.tag, ("rank " + std::to_string(p.rank) + " has lost it").c_str());
        p.note_buffers[place]->recv(p.rank, note_slot);
        if (n.kind == GONE)
            continue;
        if (n.kind == TAKEN)
            hear_taken(x, p, {n.tag, n.bytes});
        else if (!hear_sent(x, p, {n.tag, n.bytes}))
            return;
    }
}

void run_thread(ddp_gloo_link *x, peer &p)
{
    ddp_gloo_failure ignored;

    (void)guarded(x, p.rank, &ignored, [&] { listen(x, p); });
    std::lock_guard<std::mutex> hold(x->lock);
    p.ended = true;
    p.waits_on = nullptr;
    x->a_thread_ended.notify_all();
}

void start_thread(ddp_gloo_link *x, peer &p)
{
    for (size_t i = 0; i < notes_ahead; i++) {
        p.note_buffers[i] = x->context->createUnboundBuffer(&p.notes[i], sizeof p.notes[i]);
        p.note_buffers[i]->recv(p.rank, note_slot);
    }
    p.thread = std::thread(run_thread, x, std::ref(p));
    p.has_thread = true;
}

/* ---- opening ---- */

void copy_address(ddp_gloo_address *out, const std::vector<char> &bytes)
{
    if (bytes.size() > sizeof out->text)
        throw std::runtime_error("Gloo's address is too long");
    *out = {};
    out->bytes = (int32_t)bytes.size();
    std::memcpy(out->text, bytes.data(), bytes.size());
}

/* Writing to a peer that is gone is an error of Gloo's, and not the end of this process. */
void outlive_lost_peers()
{
    struct sigaction action;

    if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, SIG_IGN);
}

void open_pairs(ddp_gloo_link *x, const char *own, ddp_gloo_address *addresses)
{
    gloo::transport::tcp::attr attr(own);
    without_signals quiet;

    outlive_lost_peers();
    attr.ai_family = AF_INET;
    x->device = gloo::transport::tcp::CreateDevice(attr);
    x->context = x->device->createContext(x->rank, x->size);
    x->context->setTimeout(gloo_timeout);
    x->peers.resize((size_t)x->size);
    for (int r = 0; r < x->size; r++) {
        if (r == x->rank)
            continue;
        x->peers[(size_t)r] = std::make_unique<peer>();
        x->peers[(size_t)r]->rank = r;
        copy_address(&addresses[r], x->context->createPair(r)->address().bytes());
    }
}

/* ---- messages ---- */

/* The request is the peer's thread's from the moment on that it is in one of the peer's lists. */
UnboundBuffer *prepare(ddp_gloo_link *x, int number, uint32_t tag, void *buf, uint64_t bytes)
{
    std::unique_ptr<UnboundBuffer> buffer;
    std::lock_guard<std::mutex> hold(x->lock);
    request &r = x->requests[(size_t)number];

    if (bytes > 0)
        buffer = x->context->createUnboundBuffer(buf, bytes);
    r.tag = tag;
    r.bytes = bytes;
    r.buffer = std::move(buffer);
    x->in_flight++;
    return r.buffer.get();
}

void ask_for(ddp_gloo_link *x, peer &p, int number)
{
    std::lock_guard<std::mutex> hold(x->lock);
    const request &r = x->requests[(size_t)number];
    auto came = std::find_if(p.announced.begin(), p.announced.end(),
                             [&](const announcement &a) { return a.tag == r.tag; });

    if (came == p.announced.end()) {
        p.receives.push_back(number);
        return;
    }
    if (came->bytes != r.bytes)
        throw wrong_length(*came, r.bytes);
    p.announced.erase(came);
    p.late.push_back(number);
    if (p.waits_on && p.waits_on_note)
        p.waits_on->abortWaitRecv();
}

/* ---- closing ---- */

void say_goodbye(ddp_gloo_link *x, peer &p)
{
    std::lock_guard<std::mutex> hold(p.out);

    p.goodbye = new_note(x);
    p.goodbye->content = {GOODBYE, 0, 0, p.had};
    p.goodbye->buffer->send(p.rank, note_slot);
}

/* Each peer's thread ends when the peer has said goodbye, or is gone. What Gloo has still in its
 * hands of our own would be dropped with the connection. */
void take_leave(ddp_gloo_link *x, milliseconds most)
{
    auto until = std::chrono::steady_clock::now() + most;
    ddp_gloo_failure ignored;

    for (auto &p : x->peers)
        if (p && p->has_thread)
            (void)guarded(x, p->rank, &ignored, [&] { say_goodbye(x, *p); });
    {
        std::unique_lock<std::mutex> hold(x->lock);

        (void)x->a_thread_ended.wait_until(hold, until, [&] {
            return std::all_of(x->peers.begin(), x->peers.end(),
                               [](const auto &p) { return !p || !p->has_thread || p->ended; });
        });
    }
    for (auto &p : x->peers)
        if (p && p->goodbye)
            (void)guarded(x, p->rank, &ignored,
                          [&] { (void)p->goodbye->buffer->waitSend(nullptr, gloo_timeout); });
}

void end_threads(ddp_gloo_link *x)
{
    {
        std::lock_guard<std::mutex> hold(x->lock);

        x->stop = true;
        for (auto &p : x->peers)
            if (p && p->waits_on)
                p->waits_on->abortWaitRecv();
    }
    for (auto &p : x->peers)
        if (p && p->has_thread)
            p->thread.join();
}

} // namespace

/* ---- for C ---- */

ddp_gloo_link *ddp_gloo_open(int rank, int size, const char *own, ddp_gloo_address *addresses,
                             ddp_gloo_failure *failure)
{
    ddp_gloo_link *x = nullptr;

    try {
        x = new ddp_gloo_link();
        x->rank = rank;
        x->size = size;
        open_pairs(x, own, addresses);
        return x;
    } catch (const std::exception &e) {
        describe(failure, -1, e.what());
    } catch (...) {
        describe(failure, -1, "unknown error");
    }
    ddp_gloo_close(x, 0);
    return nullptr;
}

int ddp_gloo_connect(ddp_gloo_link *x, const ddp_gloo_address *theirs, ddp_gloo_failure *failure)
{
    without_signals quiet;

    for (auto &p : x->peers) {
        if (!p)
            continue;
        const ddp_gloo_address &at = theirs[p->rank];
        const std::vector<char> bytes(at.text, at.text + at.bytes);

        if (!guarded(x, p->rank, failure, [&] { x->context->getPair(p->rank)->connect(bytes); }))
            return 0;
    }
    for (auto &p : x->peers)
        if (p && !guarded(x, p->rank, failure, [&] { start_thread(x, *p); }))
            return 0;
    return 1;
}

int ddp_gloo_reserve(ddp_gloo_link *x, int requests, ddp_gloo_failure *failure)
{
    return guarded(x, -1, failure, [&] {
        std::lock_guard<std::mutex> hold(x->lock);

        if ((size_t)requests > x->requests.size())
            x->requests.resize((size_t)requests);
    });
}

int ddp_gloo_send(ddp_gloo_link *x, int number, int rank, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure)
{
    return guarded(x, rank, failure, [&] {
        peer &p = *x->peers[(size_t)rank];
        UnboundBuffer *buffer = prepare(x, number, (uint32_t)tag, buf, bytes);

        {
            std::lock_guard<std::mutex> hold(x->lock);
            p.sends.push_back(number);
        }
        tell(x, p, SENT, (uint32_t)tag, bytes);
        if (buffer)
            buffer->send(rank, slot_of((uint32_t)tag, bytes));
    });
}

int ddp_gloo_recv(ddp_gloo_link *x, int number, int rank, int tag, void *buf, size_t bytes,
                  ddp_gloo_failure *failure)
{
    return guarded(x, rank, failure, [&] {
        UnboundBuffer *buffer = prepare(x, number, (uint32_t)tag, buf, bytes);

        if (buffer)
            buffer->recv(rank, slot_of((uint32_t)tag, bytes));
        ask_for(x, *x->peers[(size_t)rank], number);
    });
}

int ddp_gloo_test(ddp_gloo_link *x, int *ended, int *count, ddp_gloo_failure *failure)
{
    std::lock_guard<std::mutex> hold(x->lock);

    *count = (int)x->ended.size();
    std::copy(x->ended.begin(), x->ended.end(), ended);
    x->ended.clear();
    x->in_flight -= *count;
    if (x->failed)
        *failure = x->failure;
    return !x->failed;
}

int ddp_gloo_busy(const ddp_gloo_link *x)
{
    return x->in_flight > 0;
}

void ddp_gloo_close(ddp_gloo_link *x, int64_t goodbye_ms)
{
    if (!x)
        return;
    try {
        {
            std::lock_guard<std::mutex> hold(x->lock);
            x->leaving = true;
        }
        if (goodbye_ms > 0)
            take_leave(x, milliseconds(goodbye_ms));
        end_threads(x);
        x->requests.clear();
        x->peers.clear();
        x->context.reset();
        x->device.reset();
    } catch (...) {
        /* the process is at its end, and so are its connections */
    }
    delete x;
}
