#include "transport/gloo_peer.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace ddp_gloo
{

/* ---- failures ---- */

void describe(ddp_gloo_failure *failure, int rank, const char *what)
{
    static const char here[] = " [127.0.0.1]:"; /* what Gloo takes for the peer (gloo_adopt.cpp) */

    if (what[0] == '[') { /* where in its source Gloo threw */
        const char *text = std::strstr(what, "] ");

        what = text ? text + 2 : what;
    }
    std::string text(what);
    size_t at = text.find(here);

    if (at != std::string::npos)
        text.erase(at, text.find_first_not_of("0123456789", at + sizeof here - 1) - at);
    failure->peer = rank;
    (void)std::snprintf(failure->text, sizeof failure->text, "%s", text.c_str());
}

/* Returns whether it is the first, which is the cause of those that follow. */
static bool keep(ddp_gloo_link *x, int rank, const char *what)
{
    std::lock_guard<std::mutex> hold(x->lock);

    if (x->failing || x->leaving)
        return false;
    x->failing = true;
    describe(&x->failure, rank, what);
    return true;
}

static void tell_others(ddp_gloo_link *x, int rank)
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

void hear_out(ddp_gloo_link *x, int rank)
{
    std::unique_lock<std::mutex> hold(x->lock);
    const peer &p = *x->peers[(size_t)rank];

    if (p.has_thread && p.thread.get_id() != std::this_thread::get_id())
        (void)x->a_thread_ended.wait_for(hold, gloo_timeout, [&] { return p.ended; });
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

/* Return a note to send: one that the peer has had already, else a new one. */
static posted_note *next_note(ddp_gloo_link *x, peer &p)
{
    std::unique_ptr<posted_note> n;

    if (!p.out_notes.empty() && p.out_notes.front()->number < p.confirmed) {
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
    n->content = {kind, tag, bytes, p.received};
    n->buffer->send(p.rank, note_slot);
}

} // namespace ddp_gloo
