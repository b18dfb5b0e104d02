/* A rank of Gloo has a thread for each peer. It receives the peer's notes, short messages that say
 * what was sent or taken, and waits for the data of the peer's messages (transport/gloo_link.h). */
#include "transport/gloo_peer.h"

#include <algorithm>
#include <string>

namespace ddp_gloo
{

/* Say what the thread is about to wait on, so that it can be woken. Returns false where the link is
 * at its end. */
static bool about_to_wait(ddp_gloo_link *x, peer &p, UnboundBuffer *buffer, bool is_note)
{
    p.waits_on = buffer;
    p.waits_on_note = is_note;
    return !x->stop;
}

/* The data of a message that both sides have posted. */
static bool take(ddp_gloo_link *x, peer &p, int number)
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

/* Take the first request with the tag out of the list, and return it; -1: there is none. */
static int pick(const ddp_gloo_link *x, std::deque<int> &list, uint32_t tag)
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

static bool hear_sent(ddp_gloo_link *x, peer &p, const announcement &what)
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

static void hear_taken(ddp_gloo_link *x, peer &p, const announcement &what)
{
    std::lock_guard<std::mutex> hold(x->lock);
    int number = pick(x, p.sends, what.tag);

    if (number < 0)
        throw std::runtime_error("it has taken what was not sent");
    x->ended.push_back(number);
}

/* Wait for the note, and meanwhile for the data of requests that came late. */
static bool wait_for_note(ddp_gloo_link *x, peer &p, size_t place)
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

static void listen(ddp_gloo_link *x, peer &p)
{
    for (size_t i = 0;; i++) {
        size_t place = i % notes_ahead;
        note n;

        if (!wait_for_note(x, p, place))
            return;
        n = p.notes[place];
        p.confirmed = std::max<uint64_t>(p.confirmed, n.received);
        p.received++;
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

static void run_thread(ddp_gloo_link *x, peer &p)
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

} // namespace ddp_gloo
