#include "transport/gloo_link.h"

#include "transport/gloo_peer.h"

#include <algorithm>
#include <signal.h>
#include <utility>

using namespace ddp_gloo;

namespace
{

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

/* ---- opening ---- */

/* Writing to a peer that is gone is an error of Gloo's, and not the end of this process. */
void outlive_lost_peers()
{
    struct sigaction action;

    if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, SIG_IGN);
}

void open_pairs(ddp_gloo_link *x, int *connections)
{
    without_signals quiet;

    outlive_lost_peers();
    x->device = make_device();
    x->context = x->device->createContext(x->rank, x->size);
    x->context->setTimeout(gloo_timeout);
    x->peers.resize((size_t)x->size);
    for (int r = 0; r < x->size; r++) {
        if (r == x->rank)
            continue;
        x->peers[(size_t)r] = std::make_unique<peer>();
        x->peers[(size_t)r]->rank = r;
        adopt(x, r, std::exchange(connections[r], -1));
    }
}

int start_threads(ddp_gloo_link *x, ddp_gloo_failure *failure)
{
    without_signals quiet;

    return std::all_of(x->peers.begin(), x->peers.end(), [&](auto &p) {
        return !p || guarded(x, p->rank, failure, [&] { start_thread(x, *p); });
    });
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
    p.goodbye->content = {GOODBYE, 0, 0, p.received};
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

ddp_gloo_link *ddp_gloo_open(int rank, int size, int *connections, ddp_gloo_failure *failure)
{
    ddp_gloo_link *x = nullptr;

    try {
        x = new ddp_gloo_link();
        x->rank = rank;
        x->size = size;
        open_pairs(x, connections);
        if (start_threads(x, failure))
            return x;
    } catch (const std::exception &e) {
        describe(failure, -1, e.what());
    } catch (...) {
        describe(failure, -1, "unknown error");
    }
    ddp_gloo_close(x, 0);
    return nullptr;
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
