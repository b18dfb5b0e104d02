#include "watch/watch.h"

#include "base/clock.h"
#include "watch/table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Messages. */
enum { POSITION, PING, ASK_TABLE, END, EVENTS, FAILING, BYE };

enum { TICK_MS = 200, COLLECT_MS = 1500 };

static const double tell_s = 1;              /* and four times within the timeout */
static const int64_t silent_ns = 3000000000; /* a rank that speaks every second is missed */
static const double least_start_s = 30;
static const double warn_share = 0.1; /* of the timeout */
static const int64_t end_patience_ns = 4000000000;

struct ddp_watch {
    ddp_watch_config config;
    pthread_t thread;
    atomic_int closing, failing, table_asked;

    /* Of this rank. The main thread writes, the watch's reads. */
    atomic_uint_fast64_t moves, step;
    atomic_int phase, mini_batch, layer, bucket, peer;
    ddp_recorder recorder;

    /* What ddp_watch_join was told; the thread takes it over when `joined` is set. */
    atomic_int joined;
    struct membership {
        int rank, size;
        const char *const *hosts;
        ddp_channel *channel;
        ddp_watched *ranks; /* by rank; on others than 0 its own alone, at 0 */
    } told;

    /* The thread's own. */
    int rank, size; /* as told; before that, the only rank */
    const char *const *hosts;
    ddp_channel *channel;
    ddp_watched *ranks;
    int64_t own_ns;   /* time in which this process ran */
    int64_t last_ns;  /* by the clock */
    int64_t told_ns;  /* own time at which it last told rank 0, or rank 0 the others */
    int64_t heard_ns; /* at which rank 0 was last heard */
    int64_t moved_ns; /* at which anything moved anywhere */
    int member, warned, ending, told_failing;
    int events_left; /* ranks whose events are awaited */
};

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
        ddp_record(&w->recorder, LOAD(w->step), kind, number);
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
    STORE(w->peer, -1);
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

void ddp_watch_wait(ddp_watch *w, int bucket, int peer)
{
    if (!w)
        return;
    set_phase(w, DDP_PHASE_WAITING);
    STORE(w->bucket, bucket);
    STORE(w->peer, peer);
}

void ddp_watch_ask_table(ddp_watch *w)
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
                               .bucket = LOAD(w->bucket),
                               .peer = LOAD(w->peer)};
}

/* ---- time ---- */

/* A stopped process, or a suspended machine, makes the clock leap. */
static void count_time(ddp_watch *w)
{
    const int64_t most = 5 * TICK_MS * (int64_t)1000000;
    int64_t now = ddp_clock_ns(), passed = now - w->last_ns;

    w->last_ns = now;
    w->own_ns += passed < most ? passed : most;
}

static double seconds_since(const ddp_watch *w, int64_t own_ns)
{
    return (double)(w->own_ns - own_ns) / 1e9;
}

/* ---- what was found out ---- */

static void take_position(ddp_watch *w, ddp_watched *r, const ddp_rank_position *p)
{
    r->heard_ns = w->own_ns;
    if (p->moves != r->at.moves || p->step != r->at.step) {
        r->moved_ns = w->own_ns;
        w->moved_ns = w->own_ns;
        w->warned = 0;
    }
    r->at = *p;
}

static void say_table(ddp_watch *w, const char *title)
{
    char *text = ddp_table_make(title, w->ranks, w->hosts, w->rank == 0 ? w->size : 1,
                                w->rank == 0 ? 0 : w->rank, w->own_ns, w->config.describe_bucket,
                                w->config.ctx);

    w->config.say(w->config.ctx, text ? text : title);
    free(text);
}

static void keep(ddp_watch *w, int rank, const ddp_event *events, size_t count)
{
    if (w->config.keep_events)
        w->config.keep_events(w->config.ctx, rank, events, count);
}

static void keep_own(ddp_watch *w)
{
    static ddp_event events[DDP_EVENTS_KEPT]; /* of the only thread that ends the run */

    keep(w, w->rank, events, ddp_recorder_copy(&w->recorder, events));
}

static int64_t unix_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* In place of the events of a rank that cannot be asked. */
static void keep_silence(const ddp_watch *w, int rank)
{
    const ddp_watched *r = &w->ranks[rank];
    const ddp_event event = {.unix_ns = unix_ns() - (w->own_ns - r->heard_ns),
                             .step = r->at.step,
                             .kind = DDP_EVENT_SILENT,
                             .number = r->at.phase};

    if (w->config.keep_events)
        w->config.keep_events(w->config.ctx, rank, &event, 1);
}

static void handle(void *ctx, int rank, int kind, const void *bytes, size_t count);

/* Rank 0: have the events of all that can still speak, and end. */
static void end_all(ddp_watch *w) __attribute__((noreturn));

static void end_all(ddp_watch *w)
{
    int64_t until = ddp_clock_ns() + COLLECT_MS * (int64_t)1000000;

    w->ending = 1;
    w->events_left = 0;
    for (int r = 1; r < w->size; r++)
        if (w->channel && ddp_channel_link(w->channel, r) == DDP_LINK_OPEN) {
            ddp_channel_send(w->channel, r, END, NULL, 0);
            w->events_left++;
        }
    keep_own(w);
    while (w->events_left > 0 && ddp_clock_ns() < until)
        ddp_channel_poll(w->channel, TICK_MS, handle, w);
    for (int r = 1; r < w->size; r++)
        if (!w->ranks[r].answered)
            keep_silence(w, r);
    keep(w, -1, NULL, 0);
    w->config.end(w->config.ctx);
}

/* Another rank: rank 0 is gone, or the run stands still without one. */
static void end_alone(ddp_watch *w, const char *why) __attribute__((noreturn));

static void end_alone(ddp_watch *w, const char *why)
{
    say_table(w, why);
    keep_own(w);
    keep(w, -1, NULL, 0);
    w->config.end(w->config.ctx);
}

/* Rank 0 has ended the run. It speaks for all, and kills this one if the launcher does not. */
static void leave(ddp_watch *w) __attribute__((noreturn));

static void leave(ddp_watch *w)
{
    ddp_event events[DDP_EVENTS_KEPT];
    size_t count = ddp_recorder_copy(&w->recorder, events);
    int64_t until = ddp_clock_ns() + end_patience_ns;

    ddp_channel_send(w->channel, 0, EVENTS, events, count * sizeof *events);
    while (ddp_clock_ns() < until && ddp_channel_link(w->channel, 0) == DDP_LINK_OPEN)
        ddp_channel_poll(w->channel, TICK_MS, handle, w);
    w->config.end(w->config.ctx);
}

/* ---- messages ---- */

static void handle(void *ctx, int rank, int kind, const void *bytes, size_t count)
{
    ddp_watch *w = ctx;
    ddp_rank_position p;

    w->heard_ns = w->own_ns;
    switch (kind) {
    case POSITION:
        if (w->rank == 0 && count == sizeof p) {
            memcpy(&p, bytes, sizeof p);
            take_position(w, &w->ranks[rank], &p);
        }
        break;
    case ASK_TABLE:
        atomic_store(&w->table_asked, 1);
        break;
    case FAILING:
    case BYE:
        w->ranks[w->rank == 0 ? rank : 0].left = 1;
        break;
    case EVENTS:
        keep(w, rank, bytes, count / sizeof(ddp_event));
        w->ranks[rank].answered = 1;
        w->events_left--;
        break;
    case END:
        if (!w->ending && w->rank != 0) {
            w->ending = 1;
            leave(w);
        }
        break;
    default:
        break;
    }
}

static double tell_interval_s(const ddp_watch *w)
{
    double quarter = w->config.timeout_s / 4;

    return quarter > 0 && quarter < tell_s ? quarter : tell_s;
}

static void tell(ddp_watch *w)
{
    ddp_rank_position p = position(w);

    take_position(w, &w->ranks[0], &p);
    if (!w->channel || seconds_since(w, w->told_ns) < tell_interval_s(w))
        return;
    w->told_ns = w->own_ns;
    if (w->rank > 0) {
        ddp_channel_send(w->channel, 0, POSITION, &p, sizeof p);
        return;
    }
    for (int r = 1; r < w->size; r++)
        ddp_channel_send(w->channel, r, PING, NULL, 0);
}

/* ---- judging ---- */

/* Reading and writing excuse a rank for as long as it is heard: its watch speaks beside them. */
static int is_at_io(const ddp_watch *w, int rank)
{
    const ddp_watched *r = &w->ranks[rank];

    return ddp_phase_is_io(r->at.phase) && r->heard_ns + silent_ns >= w->own_ns;
}

/* Until all have joined: a small timeout is meant for steps, and MPI's start may take longer. */
static double start_limit_s(const ddp_watch *w)
{
    double io_s = w->config.io_timeout_s,
           least = io_s > 0 && io_s < least_start_s ? io_s : least_start_s;

    if (w->config.timeout_s <= 0)
        return 0;
    return w->config.timeout_s > least ? w->config.timeout_s : least;
}

/* A limit of 0 is none. */
static double limit_s(const ddp_watch *w)
{
    int known = w->rank == 0 ? w->size : 1;

    if (!w->member)
        return start_limit_s(w);
    for (int r = 0; r < known; r++)
        if (is_at_io(w, r))
            return w->config.io_timeout_s;
    return w->config.timeout_s;
}

/* Has a rank's process ended while the run goes on? Then the launcher may be about to end all,
 * and has a second for it. */
static void look_for_lost(ddp_watch *w)
{
    for (int r = 1; w->channel && r < w->size; r++) {
        ddp_watched *rank = &w->ranks[r];
        char title[512];

        if (rank->left || ddp_channel_link(w->channel, r) != DDP_LINK_LOST)
            continue;
        if (rank->lost_ns == 0)
            rank->lost_ns = w->own_ns;
        if (seconds_since(w, rank->lost_ns) < 1.5)
            continue;
        (void)snprintf(title, sizeof title,
                       "rank %d on %s has ended, or its connection has, in the middle of the run",
                       r, w->hosts[r]);
        say_table(w, title);
        end_all(w);
    }
}

/* Which rank the others wait for: the one that was not heard, or moved, for longest. */
static int suspect(const ddp_watch *w)
{
    int found = 0;

    for (int r = 1; r < w->size; r++) {
        const ddp_watched *a = &w->ranks[r], *b = &w->ranks[found];
        int a_waits = a->at.phase == DDP_PHASE_WAITING, b_waits = b->at.phase == DDP_PHASE_WAITING;

        if (a->heard_ns + silent_ns < b->heard_ns)
            found = r;
        else if (b->heard_ns + silent_ns < a->heard_ns)
            continue;
        else if (a_waits != b_waits)
            found = b_waits ? r : found;
        else if (a->moved_ns < b->moved_ns)
            found = r;
    }
    return found;
}

static void describe_start(const ddp_watch *w, char *out, size_t size, double still_s, int ends)
{
    char who[512] = "";

    if (w->config.describe_start)
        w->config.describe_start(w->config.ctx, who, sizeof who);
    (void)snprintf(out, size, "the ranks have not come together for %.0f s%s%s", still_s,
                   ends ? ", and the run ends" : "", who);
}

static void describe_standstill(const ddp_watch *w, char *out, size_t size, double still_s,
                                int ends)
{
    int r = suspect(w);
    int silent = seconds_since(w, w->ranks[r].heard_ns) > 3;
    char at[256];

    if (!w->member) {
        describe_start(w, out, size, still_s, ends);
        return;
    }
    ddp_rank_position_describe(at, sizeof at, &w->ranks[r].at);
    if (w->size == 1) {
        (void)snprintf(out, size, "nothing has moved for %.0f s%s: %s", still_s,
                       ends ? ", and the run ends" : "", at);
        return;
    }
    (void)snprintf(out, size,
                   "nothing has moved for %.0f s%s; the others wait for rank %d on %s%s: %s",
                   still_s, ends ? ", and the run ends" : "", r, w->hosts[r],
                   silent ? ", which is not heard any more" : "", at);
}

static void look_at_rank_0(ddp_watch *w)
{
    double silent_s = seconds_since(w, w->heard_ns);
    char title[512];

    if (ddp_channel_link(w->channel, 0) == DDP_LINK_LOST && !w->ranks[0].left) {
        if (w->ranks[0].lost_ns == 0)
            w->ranks[0].lost_ns = w->own_ns;
        if (seconds_since(w, w->ranks[0].lost_ns) < 3)
            return;
        (void)snprintf(title, sizeof title,
                       "rank 0 on %s has ended, or the connection to it has, in the middle of the "
                       "run",
                       w->hosts[0]);
        end_alone(w, title);
    }
    /* Rank 0 would have ended the run by now. */
    if (w->config.timeout_s > 0 && silent_s > w->config.timeout_s + 5) {
        (void)snprintf(title, sizeof title, "rank 0 on %s has not been heard for %.0f s",
                       w->hosts[0], silent_s);
        end_alone(w, title);
    }
}

static double warn_after_s(double limit)
{
    double share = limit * warn_share;

    return share > tell_s ? share : tell_s; /* of other ranks less is not known */
}

static void look_for_standstill(ddp_watch *w)
{
    double still_s = seconds_since(w, w->moved_ns), limit = limit_s(w);
    char title[1024];

    if (limit <= 0 || still_s < warn_after_s(limit))
        return;
    if (still_s < limit && w->warned)
        return;
    describe_standstill(w, title, sizeof title, still_s, still_s >= limit);
    if (still_s < limit) {
        w->warned = 1;
        w->config.say(w->config.ctx, title);
        return;
    }
    say_table(w, title);
    end_all(w);
}

static void judge(ddp_watch *w)
{
    if (atomic_load(&w->failing))
        return;
    if (atomic_exchange(&w->table_asked, 0)) {
        if (w->rank == 0)
            say_table(w, "where the ranks are");
        else
            ddp_channel_send(w->channel, 0, ASK_TABLE, NULL, 0);
    }
    if (w->rank > 0) {
        look_at_rank_0(w);
        return;
    }
    look_for_lost(w);
    look_for_standstill(w);
}

/* ---- the thread ---- */

/* From now on with all ranks, of which each has just been heard. */
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
        w->ranks[r] = (ddp_watched){.at = {.layer = -1, .bucket = -1, .peer = -1},
                                    .heard_ns = w->own_ns,
                                    .moved_ns = w->own_ns};
    w->heard_ns = w->moved_ns = w->own_ns;
}

static void say_that_it_fails(ddp_watch *w)
{
    if (w->told_failing || !w->channel || !atomic_load(&w->failing))
        return;
    w->told_failing = 1;
    for (int r = 0; r < w->size; r++)
        ddp_channel_send(w->channel, r, FAILING, NULL, 0);
}

static void say_goodbye(ddp_watch *w)
{
    for (int r = 0; w->channel && r < w->size; r++)
        ddp_channel_send(w->channel, r, BYE, NULL, 0);
    if (w->channel)
        ddp_channel_poll(w->channel, 0, handle, w);
}

static void *run(void *ctx)
{
    ddp_watch *w = ctx;

    w->last_ns = ddp_clock_ns();
    while (!atomic_load(&w->closing)) {
        become_member(w);
        if (w->channel)
            ddp_channel_poll(w->channel, TICK_MS, handle, w);
        else
            (void)usleep(TICK_MS * 1000);
        count_time(w);
        say_that_it_fails(w);
        tell(w);
        judge(w);
    }
    become_member(w);
    say_goodbye(w);
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
    w->size = 1;
    w->hosts = this_host;
    STORE(w->layer, -1);
    STORE(w->bucket, -1);
    STORE(w->peer, -1);
    if (pthread_create(&w->thread, NULL, run, w)) {
        free(w->ranks);
        free(w);
        return ddp_fail(err, DDP_ERR_NOMEM, "no thread for a watch");
    }
    *out = w;
    return DDP_OK;
}

ddp_status ddp_watch_join(ddp_watch *w, int rank, int size, const char *const *hosts,
                          ddp_channel *channel, ddp_error *err)
{
    struct membership told = {.rank = rank, .size = size, .hosts = hosts, .channel = channel};

    if (!w)
        return DDP_OK;
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
    (void)pthread_join(w->thread, NULL);
    ddp_channel_close(w->channel);
    free(w->ranks);
    free(w);
}
