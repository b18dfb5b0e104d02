#include "watch/state.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- where this rank is ---- */

#define STORE(place, value) atomic_store_explicit(&(place), (value), memory_order_relaxed)
#define LOAD(place) atomic_load_explicit(&(place), memory_order_relaxed)

void ddp_watch_moved(ddp_watch *w)
{
    if (w)
        STORE(w->moves, LOAD(w->moves) + 1);
}

void ddp_watch_record(ddp_watch *w, ddp_event_kind kind, int number)
{
    if (w)
        ddp_flight_record(&w->recorder, LOAD(w->step), kind, number);
}

void ddp_watch_step(ddp_watch *w, uint64_t step, int mini_batch)
{
    if (!w)
        return;
    if (step != LOAD(w->step)) {
        STORE(w->step, step);
        ddp_watch_record(w, DDP_EVENT_STEP, (int)(step & 0x7fffffff));
    }
    STORE(w->mini_batch, mini_batch);
    ddp_watch_moved(w);
}

static void set_phase(ddp_watch *w, ddp_phase phase)
{
    STORE(w->bucket, -1);
    if (LOAD(w->phase) == (int)phase)
        return;
    STORE(w->phase, (int)phase);
    ddp_watch_record(w, DDP_EVENT_PHASE, (int)phase);
}

void ddp_watch_phase(ddp_watch *w, ddp_phase phase)
{
    if (!w)
        return;
    STORE(w->layer, -1);
    set_phase(w, phase);
    ddp_watch_moved(w);
}

void ddp_watch_layer(ddp_watch *w, ddp_phase phase, int layer)
{
    if (!w)
        return;
    STORE(w->layer, layer);
    set_phase(w, phase);
    ddp_watch_moved(w);
}

void ddp_watch_wait(ddp_watch *w, int bucket)
{
    if (!w)
        return;
    set_phase(w, DDP_PHASE_WAITING);
    STORE(w->bucket, bucket);
}

void ddp_watch_step_completed(ddp_watch *w)
{
    if (w)
        STORE(w->completed_step, LOAD(w->step));
}

void ddp_watch_ask_hang_report(ddp_watch *w)
{
    if (w)
        atomic_store(&w->table_asked, 1);
}

void ddp_watch_fail(ddp_watch *w)
{
    if (w && !atomic_exchange(&w->failing, 1))
        ddp_watch_record(w, DDP_EVENT_FAIL, 0);
}

static ddp_rank_position position(ddp_watch *w)
{
    return (ddp_rank_position){.moves = LOAD(w->moves),
                               .step = LOAD(w->step),
                               .phase = LOAD(w->phase),
                               .mini_batch = LOAD(w->mini_batch),
                               .layer = LOAD(w->layer),
                               .bucket = LOAD(w->bucket)};
}

static void note_completed(ddp_watch *w)
{
    uint64_t step = LOAD(w->completed_step);

    if (step != w->completed.step)
        w->completed = (ddp_completed_step){.step = step, .at_ns = w->own_ns};
}

/* ---- time ---- */

/* Count the time that this process ran, at most a second a call: a stopped process, or a suspended
 * machine, makes the clock leap. */
static void count_time(ddp_watch *w)
{
    const int64_t most = 5 * DDP_WATCH_TICK_MS * (int64_t)1000000;
    int64_t now = ddp_watch_now_ns(w), passed = now - w->last_ns;

    w->last_ns = now;
    w->own_ns += passed < most ? passed : most;
}

/* ---- the thread ---- */

/* Take over ddp_watch_join's arguments, once. Each rank counts as just heard. */
static void become_member(ddp_watch *w)
{
    if (w->member || !atomic_load(&w->joined))
        return;
    free(w->ranks);
    w->member = 1;
    w->rank = w->told.rank;
    w->size = w->told.size;
    w->hosts = w->told.hosts;
    w->channel = w->told.channel;
    w->ranks = w->told.ranks;
    for (int r = 0; r < (w->rank == 0 ? w->size : 1); r++)
        w->ranks[r] = (ddp_known_rank){
            .at = {.layer = -1, .bucket = -1}, .heard_ns = w->own_ns, .moved_ns = w->own_ns};
    w->heard_ns = w->moved_ns = w->own_ns;
}

/* Wait for a tick, or until the watch is closed: there is no channel yet. */
static void wait_alone(const ddp_watch *w)
{
    struct pollfd closed = {.fd = w->closed, .events = POLLIN};

    (void)poll(&closed, 1, w->config.tick_ms);
}

static void *run(void *ctx)
{
    ddp_watch *w = ctx;
    ddp_rank_position now;

    w->last_ns = ddp_watch_now_ns(w);
    while (!atomic_load(&w->closing)) {
        become_member(w);
        if (w->channel)
            ddp_watch_poll(w, w->config.tick_ms);
        else
            wait_alone(w);
        if (w->told_to_end)
            ddp_watch_exit_after_events(w);
        count_time(w);
        ddp_watch_notify_failing(w);
        now = position(w);
        note_completed(w);
        ddp_watch_tell_position(w, &now);
        ddp_watch_tell_file(w);
        ddp_watch_detect_hang(w);
    }
    become_member(w);
    ddp_watch_say_goodbye(w);
    if (w->told_to_end)
        ddp_watch_exit_after_events(w);
    return NULL;
}

static const char *const this_host[] = {"this host"};

ddp_status ddp_watch_open(ddp_watch **out, const ddp_watch_config *config, ddp_error *err)
{
    ddp_watch *w = calloc(1, sizeof *w);

    *out = NULL;
    if (!w || !(w->ranks = calloc(1, sizeof *w->ranks))) {
        free(w);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a watch");
    }
    w->config = *config;
    if (w->config.tick_ms <= 0)
        w->config.tick_ms = DDP_WATCH_TICK_MS;
    w->closed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->size = 1;
    w->hosts = this_host;
    STORE(w->layer, -1);
    STORE(w->bucket, -1);
    if (pthread_create(&w->thread, NULL, run, w)) {
        (void)close(w->closed);
        free(w->ranks);
        free(w);
        return ddp_fail(err, DDP_ERR_NOMEM, "no thread for a watch");
    }
    *out = w;
    return DDP_OK;
}

ddp_status ddp_watch_join(ddp_watch *w, int rank, int size, const char *const *hosts,
                          ddp_heartbeat *channel, ddp_error *err)
{
    struct membership told = {.rank = rank, .size = size, .hosts = hosts, .channel = channel};

    if (!w) {
        ddp_heartbeat_close(channel);
        return DDP_OK;
    }
    told.ranks = calloc(rank == 0 ? (size_t)size : 1, sizeof *told.ranks);
    if (!told.ranks)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to watch %d ranks", size);
    w->told = told;
    atomic_store(&w->joined, 1);
    return DDP_OK;
}

void ddp_watch_close(ddp_watch *w)
{
    if (!w)
        return;
    atomic_store(&w->closing, 1);
    (void)eventfd_write(w->closed, 1);
    (void)pthread_join(w->thread, NULL);
    ddp_heartbeat_close(w->channel);
    (void)close(w->closed);
    free(w->ranks);
    free(w);
}
