/* The queues of the emulated streams. A queue holds the tasks of a stream (a task is one function
 * that does a piece of device work), and runs them one after the other. EMULATED_ORDER chooses an
 * order between queues, among those that CUDA allows.
 *
 * A task may begin when these are done: the tasks before it in its queue, and the events that its
 * stream waits for. A device's default stream and its streams made without cudaStreamNonBlocking
 * also wait for what the other has queued before. Tasks run on the thread that calls CUDA, or, if
 * nothing has moved for some milliseconds, on a thread of this file. While a task runs, the queues'
 * mutex is free. */
#include "emulated.h"
#include "order.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

using namespace emulated;
using clock_type = std::chrono::steady_clock;

struct emulated::completion_state {
    emulated_stream *stream;
    bool done = false;
    clock_type::time_point time;
};

namespace
{

struct task {
    std::function<bool()> attempt;
    std::vector<completion> after;
    completion end;
};

using lock_type = std::unique_lock<std::mutex>;

} // namespace

/* Never freed: completions point to it. */
struct emulated_stream {
    int device;
    bool is_default;
    bool blocking; /* true: ordered with the default stream */
    bool destroyed = false;
    bool busy = false;
    std::deque<task> queue;
    completion last; /* end of what was queued last; NULL: nothing yet */
};

namespace
{

struct queues {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<emulated_stream *> streams;
    std::map<int, emulated_stream *> defaults;
    order_choice how = order_of_environment();
    uint64_t activity = 0; /* changes with every task that is queued or done */
    size_t pending = 0;
};

/* Never freed: the watch may use it while the program ends. */
queues &state()
{
    static auto *q = new queues;

    return *q;
}

emulated_stream *add_stream(queues &q, bool is_default, bool blocking)
{
    auto *s = new emulated_stream{current_device(), is_default, blocking, false, false, {}, {}};

    q.streams.push_back(s);
    return s;
}

emulated_stream *resolve(queues &q, cudaStream_t stream)
{
    if (stream && stream != cudaStreamLegacy)
        return stream;
    emulated_stream *&found = q.defaults[current_device()];
    if (!found)
        found = add_stream(q, true, true);
    return found;
}

/* ---- running ---- */

/* Run the first task of a stream. The lock is held, as in all functions that take it, but not while
 * the work runs. Returns false if the work is not ready. */
bool run_head(lock_type &lock, queues &q, emulated_stream *s)
{
    task &head = s->queue.front(); /* tasks that others queue do not move it */
    bool done;

    s->busy = true;
    lock.unlock();
    done = head.attempt();
    lock.lock();
    s->busy = false;
    if (done) {
        head.end->done = true;
        head.end->time = clock_type::now();
        s->queue.pop_front();
        q.pending--;
        q.activity++;
    }
    q.changed.notify_all();
    return done;
}

completion first_missing(const task &p)
{
    for (const completion &end : p.after)
        if (!end->done)
            return end;
    return nullptr;
}

bool can_run(const emulated_stream *s)
{
    return !s->busy && !s->queue.empty() && !first_missing(s->queue.front());
}

/* Run what can run of the streams that `which` names, until nothing can. */
template <class Which> void pump(lock_type &lock, queues &q, Which which)
{
    bool progress = true;

    while (progress) {
        progress = false;
        for (size_t i = 0; i < q.streams.size(); i++)
            while (which(q.streams[i]) && can_run(q.streams[i]) && run_head(lock, q, q.streams[i]))
                progress = true;
    }
}

void pump_all(lock_type &lock, queues &q)
{
    pump(lock, q, [](const emulated_stream *) { return true; });
}

void run_some(lock_type &lock, queues &q)
{
    for (unsigned steps = next_random(q.how, 4); steps; steps--) {
        std::vector<emulated_stream *> can;

        for (emulated_stream *s : q.streams)
            if (can_run(s))
                can.push_back(s);
        if (can.empty())
            return;
        (void)run_head(lock, q, can[next_random(q.how, static_cast<unsigned>(can.size()))]);
    }
}

void run_ready_locked(lock_type &lock, queues &q)
{
    switch (q.how.kind) {
    case order::eager:
        return pump_all(lock, q);
    case order::compute_late:
        return pump(lock, q, [](const emulated_stream *s) { return !s->is_default; });
    case order::streams_late:
        return pump(lock, q, [](const emulated_stream *s) { return s->is_default; });
    case order::random:
        return run_some(lock, q);
    }
}

/* Run one task that `end` needs. Returns false if it is not ready, or runs on another thread. */
bool step_toward(lock_type &lock, queues &q, completion end)
{
    while (!end->done) {
        emulated_stream *s = end->stream;
        completion missing;

        if (s->busy)
            return false;
        missing = first_missing(s->queue.front());
        if (!missing)
            return run_head(lock, q, s);
        end = missing;
    }
    return true;
}

/* Wait for an end. Work that is not ready for long may need other queues, here or in another
 * process. */
void wait_locked(lock_type &lock, queues &q, const completion &end)
{
    constexpr auto nap = std::chrono::microseconds(50);
    int vain = 0;

    while (end && !end->done) {
        if (step_toward(lock, q, end)) {
            vain = 0;
            continue;
        }
        q.changed.wait_for(lock, nap);
        if (++vain > 20 || q.how.kind == order::eager)
            pump_all(lock, q);
    }
}

/* Run queued work if nothing else does: a device goes on while its host does something else. */
[[noreturn]] void watch()
{
    queues &q = state();
    lock_type lock(q.mutex);
    auto patience = std::chrono::milliseconds(q.how.kind == order::eager ? 1 : 50);

    for (;;) {
        q.changed.wait(lock, [&q] { return q.pending > 0; });
        uint64_t before = q.activity;
        lock.unlock();
        std::this_thread::sleep_for(patience);
        lock.lock();
        if (q.activity == before)
            pump_all(lock, q);
    }
}

/* ---- queueing ---- */

void order_with_default(queues &q, const emulated_stream *s, std::vector<completion> &after)
{
    for (const emulated_stream *other : q.streams)
        if (other != s && other->device == s->device && other->last && !other->last->done
            && (s->is_default ? other->blocking : s->blocking && other->is_default))
            after.push_back(other->last);
}

completion queue_locked(queues &q, emulated_stream *s, std::function<bool()> attempt,
                        std::vector<completion> after = {})
{
    static std::once_flag once;

    std::call_once(once, [] { std::thread(watch).detach(); });
    order_with_default(q, s, after);
    s->last = std::make_shared<completion_state>();
    s->last->stream = s;
    s->queue.push_back({std::move(attempt), std::move(after), s->last});
    q.pending++;
    q.activity++;
    q.changed.notify_all();
    return s->last;
}

bool nothing()
{
    return true;
}

} // namespace

namespace emulated
{

completion enqueue_attempt(cudaStream_t stream, std::function<bool()> attempt)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return queue_locked(q, resolve(q, stream), [attempt = std::move(attempt)] {
        open_memory open;
        return attempt();
    });
}

completion enqueue(cudaStream_t stream, std::function<void()> work)
{
    if (only_launches())
        return enqueue_marker(stream, nullptr);
    return enqueue_attempt(stream, [work = std::move(work)] {
        work();
        return true;
    });
}

completion enqueue_host(cudaStream_t stream, std::function<void()> work)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return queue_locked(q, resolve(q, stream), [work = std::move(work)] {
        work();
        return true;
    });
}

void run_ready()
{
    queues &q = state();
    lock_type lock(q.mutex);

    run_ready_locked(lock, q);
}

void wait(const completion &end)
{
    queues &q = state();
    lock_type lock(q.mutex);

    wait_locked(lock, q, end);
}

void wait_stream(cudaStream_t stream)
{
    queues &q = state();
    lock_type lock(q.mutex);

    wait_locked(lock, q, completion(resolve(q, stream)->last));
}

void wait_everything()
{
    queues &q = state();
    lock_type lock(q.mutex);

    for (size_t i = 0; i < q.streams.size(); i++)
        wait_locked(lock, q, completion(q.streams[i]->last));
}

cudaStream_t make_stream(bool blocking)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return add_stream(q, false, blocking);
}

bool close_stream(cudaStream_t stream)
{
    lock_type lock(state().mutex);

    if (!stream || stream == cudaStreamLegacy || stream->destroyed)
        return false;
    stream->destroyed = true;
    return true;
}

completion last_completion(cudaStream_t stream)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return resolve(q, stream)->last;
}

completion enqueue_marker(cudaStream_t stream, const completion &after)
{
    queues &q = state();
    lock_type lock(q.mutex);
    std::vector<completion> all;

    if (after)
        all.push_back(after);
    return queue_locked(q, resolve(q, stream), nothing, all);
}

bool try_finish(const completion &end)
{
    queues &q = state();
    lock_type lock(q.mutex);

    if (!end)
        return true;
    if (q.how.kind == order::eager || q.how.kind == order::random)
        run_ready_locked(lock, q);
    if (end->done)
        return true;
    (void)step_toward(lock, q, end);
    return false;
}

bool is_done(const completion &end)
{
    lock_type lock(state().mutex);

    return !end || end->done;
}

double ms_between(const completion &start, const completion &end)
{
    lock_type lock(state().mutex);

    return std::chrono::duration<double, std::milli>(end->time - start->time).count();
}

unsigned random_below(unsigned n)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return q.how.kind == order::random ? next_random(q.how, n) : 0;
}

} // namespace emulated
