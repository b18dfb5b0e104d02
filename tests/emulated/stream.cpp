/* Streams and events: queues of closures, run in an order that EMULATED_ORDER chooses among those that CUDA allows.
 *
 * Each piece of work ends in an end_of_work, and begins after others: what is before it in its queue, the default stream
 * for streams made without cudaStreamNonBlocking and the other way round, and events. Work runs on the thread that calls
 * CUDA, without the lock, and at most one piece of a queue at a time. */
#include "emulated.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

using namespace emulated;
using clock_type = std::chrono::steady_clock;

struct emulated::end_of_work {
    emulated_stream *stream;
    bool done = false;
    clock_type::time_point time;
};

namespace
{

struct piece {
    std::function<bool()> attempt;
    std::vector<work_end> after;
    work_end end;
};

enum class order { eager, compute_late, streams_late, random };

using lock_type = std::unique_lock<std::mutex>;

} // namespace

/* Never freed: ends of work point to it. */
struct emulated_stream {
    int device;
    bool is_default;
    bool blocking; /* orders itself with the default stream */
    bool destroyed = false;
    bool busy = false;
    std::deque<piece> queue;
    work_end last; /* of what was queued latest; NULL: nothing yet */
};

struct emulated_event {
    work_end end; /* NULL: not recorded yet */
    bool timed;
};

namespace
{

struct queues {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<emulated_stream *> streams;
    std::map<int, emulated_stream *> defaults;
    order how = order::eager;
    uint64_t seed = 1;
    uint64_t activity = 0; /* changes with every piece that is queued or done */
    size_t pending = 0;
};

void parse_order(queues &q)
{
    const char *text = std::getenv("EMULATED_ORDER");

    if (!text || !std::strcmp(text, "eager"))
        return;
    if (!std::strcmp(text, "compute-late"))
        q.how = order::compute_late;
    else if (!std::strcmp(text, "streams-late"))
        q.how = order::streams_late;
    else if (std::sscanf(text, "random:%lu", &q.seed) == 1)
        q.how = order::random;
    else {
        std::fprintf(stderr,
                     "EMULATED_ORDER wants eager, compute-late, streams-late or random:SEED, "
                     "not '%s'\n",
                     text);
        std::abort();
    }
}

/* Never freed: the watch may use it while the program ends. */
queues &state()
{
    static queues *q = [] {
        auto *fresh = new queues;
        parse_order(*fresh);
        return fresh;
    }();

    return *q;
}

unsigned next_random(queues &q, unsigned n)
{
    q.seed = q.seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(q.seed >> 33) % n;
}

emulated_stream *make_stream(queues &q, bool is_default, bool blocking)
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
        found = make_stream(q, true, true);
    return found;
}

/* ---- running ---- */

/* Under the lock, as all that takes it; gives it up while the work runs. False: the work is not ready. */
bool run_head(lock_type &lock, queues &q, emulated_stream *s)
{
    piece &head = s->queue.front(); /* pieces that others queue do not move it */
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

work_end first_missing(const piece &p)
{
    for (const work_end &end : p.after)
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
    for (unsigned steps = next_random(q, 4); steps; steps--) {
        std::vector<emulated_stream *> can;

        for (emulated_stream *s : q.streams)
            if (can_run(s))
                can.push_back(s);
        if (can.empty())
            return;
        (void)run_head(lock, q, can[next_random(q, static_cast<unsigned>(can.size()))]);
    }
}

void let_run_locked(lock_type &lock, queues &q)
{
    switch (q.how) {
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

/* Run one piece that `end` needs. False: it is not ready, or runs on another thread. */
bool step_toward(lock_type &lock, queues &q, work_end end)
{
    while (!end->done) {
        emulated_stream *s = end->stream;
        work_end missing;

        if (s->busy)
            return false;
        missing = first_missing(s->queue.front());
        if (!missing)
            return run_head(lock, q, s);
        end = missing;
    }
    return true;
}

/* Work that stays not ready may need other queues, here or in another process. */
void wait_locked(lock_type &lock, queues &q, const work_end &end)
{
    constexpr auto nap = std::chrono::microseconds(50);
    int vain = 0;

    while (end && !end->done) {
        if (step_toward(lock, q, end)) {
            vain = 0;
            continue;
        }
        q.changed.wait_for(lock, nap);
        if (++vain > 20 || q.how == order::eager)
            pump_all(lock, q);
    }
}

/* A device goes on while its host does something else. */
[[noreturn]] void watch()
{
    queues &q = state();
    lock_type lock(q.mutex);
    auto patience = std::chrono::milliseconds(q.how == order::eager ? 1 : 50);

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

void order_with_default(queues &q, const emulated_stream *s, std::vector<work_end> &after)
{
    for (const emulated_stream *other : q.streams)
        if (other != s && other->device == s->device && other->last && !other->last->done
            && (s->is_default ? other->blocking : s->blocking && other->is_default))
            after.push_back(other->last);
}

work_end queue_locked(queues &q, emulated_stream *s, std::function<bool()> attempt,
                      std::vector<work_end> after = {})
{
    static std::once_flag once;

    std::call_once(once, [] { std::thread(watch).detach(); });
    order_with_default(q, s, after);
    s->last = std::make_shared<end_of_work>();
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

work_end enqueue_attempt(cudaStream_t stream, std::function<bool()> attempt)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return queue_locked(q, resolve(q, stream), [attempt = std::move(attempt)] {
        open_memory open;
        return attempt();
    });
}

work_end enqueue(cudaStream_t stream, std::function<void()> work)
{
    return enqueue_attempt(stream, [work = std::move(work)] {
        work();
        return true;
    });
}

work_end enqueue_host(cudaStream_t stream, std::function<void()> work)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return queue_locked(q, resolve(q, stream), [work = std::move(work)] {
        work();
        return true;
    });
}

void let_run()
{
    queues &q = state();
    lock_type lock(q.mutex);

    let_run_locked(lock, q);
}

void wait(const work_end &end)
{
    queues &q = state();
    lock_type lock(q.mutex);

    wait_locked(lock, q, end);
}

void wait_stream(cudaStream_t stream)
{
    queues &q = state();
    lock_type lock(q.mutex);

    wait_locked(lock, q, work_end(resolve(q, stream)->last));
}

void wait_everything()
{
    queues &q = state();
    lock_type lock(q.mutex);

    for (size_t i = 0; i < q.streams.size(); i++)
        wait_locked(lock, q, work_end(q.streams[i]->last));
}

bool is_done(const work_end &end)
{
    lock_type lock(state().mutex);

    return end->done;
}

unsigned chance(unsigned n)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return q.how == order::random ? next_random(q, n) : 0;
}

} // namespace emulated

namespace
{

/* A question does not wait, but lets the device get on. */
cudaError_t query(const work_end &end)
{
    queues &q = state();
    lock_type lock(q.mutex);

    if (!end)
        return cudaSuccess;
    if (q.how == order::eager || q.how == order::random)
        let_run_locked(lock, q);
    if (end->done)
        return cudaSuccess;
    (void)step_toward(lock, q, end);
    return report(cudaErrorNotReady);
}

work_end end_of_stream(cudaStream_t stream)
{
    queues &q = state();
    lock_type lock(q.mutex);

    return resolve(q, stream)->last;
}

} // namespace

extern "C" {

cudaError_t cudaDeviceSynchronize(void)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaDeviceSynchronize"))
        return report(cudaErrorIllegalAddress);
    wait_everything();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return devices() ? cudaSuccess : report(cudaErrorNoDevice);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    queues &q = state();

    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaStreamCreate"))
        return report(cudaErrorMemoryAllocation);
    lock_type lock(q.mutex);
    *stream = make_stream(q, false, !(flags & cudaStreamNonBlocking));
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

/* What is queued still runs. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    lock_type lock(state().mutex);

    if (!stream || stream == cudaStreamLegacy || stream->destroyed)
        return report(cudaErrorInvalidResourceHandle);
    stream->destroyed = true;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaStreamSynchronize"))
        return report(cudaErrorIllegalAddress);
    wait_stream(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaStreamQuery"))
        return report(cudaErrorIllegalAddress);
    return query(end_of_stream(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    queues &q = state();

    if (!event || fails("cudaStreamWaitEvent"))
        return report(cudaErrorInvalidResourceHandle);
    {
        lock_type lock(q.mutex);
        if (event->end && !event->end->done)
            (void)queue_locked(q, resolve(q, stream), nothing, {event->end});
    }
    let_run();
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (fails("cudaLaunchHostFunc"))
        return report(cudaErrorInvalidResourceHandle);
    (void)enqueue_host(stream, [=] { function(data); });
    let_run();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (!devices())
        return report(cudaErrorNoDevice);
    if (fails("cudaEventCreate"))
        return report(cudaErrorMemoryAllocation);
    *event = new emulated_event{nullptr, !(flags & cudaEventDisableTiming)};
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event)
        return report(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    queues &q = state();

    if (!event || fails("cudaEventRecord"))
        return report(cudaErrorInvalidResourceHandle);
    {
        lock_type lock(q.mutex);
        event->end = queue_locked(q, resolve(q, stream), nothing);
    }
    let_run();
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (!event)
        return report(cudaErrorInvalidResourceHandle);
    if (fails("cudaEventQuery"))
        return report(cudaErrorIllegalAddress);
    return query(event->end);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (!event)
        return report(cudaErrorInvalidResourceHandle);
    if (fails("cudaEventSynchronize"))
        return report(cudaErrorIllegalAddress);
    wait(event->end);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    lock_type lock(state().mutex);

    if (!start || !end || !start->end || !end->end || !start->timed || !end->timed)
        return report(cudaErrorInvalidResourceHandle);
    if (!start->end->done || !end->end->done)
        return report(cudaErrorNotReady);
    *ms = std::chrono::duration<float, std::milli>(end->end->time - start->end->time).count();
    return cudaSuccess;
}

} // extern "C"
