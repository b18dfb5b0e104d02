#include "watch/blocked_file.h"
#include "watch/state.h"

#include <string.h>

/* Kinds of messages. */
enum { POSITION, PING, ASK_TABLE, END, EVENTS, FAILING, BYE, AT_FILE };

static const double tell_s = 1;  /* between messages to rank 0, or a quarter of the timeout */
static const double look_s = .8; /* without movement before a rank looks for a blocked file */

static void take_position(ddp_watch *w, ddp_known_rank *r, const ddp_rank_position *p)
{
    r->heard_ns = w->own_ns;
    if (p->moves != r->at.moves || p->step != r->at.step) {
        r->moved_ns = w->own_ns;
        w->moved_ns = w->own_ns;
        w->warned = 0;
        r->file[0] = '\0';
    }
    r->at = *p;
}

/* Add by_ns to the time of each event. */
static void shift_times(ddp_event *events, size_t count, int64_t by_ns)
{
    for (size_t i = 0; i < count; i++)
        events[i].unix_ns += by_ns;
}

/* Take the events of a rank. Their times come as the time before they were sent, since hosts'
 * clocks may differ; this host's clock counts. */
static void take_events(ddp_watch *w, int rank, const void *bytes, size_t count)
{
    static ddp_event events[DDP_EVENTS_KEPT]; /* of the only thread that ends the run */

    if (count > sizeof events)
        count = sizeof events;
    memcpy(events, bytes, count);
    count /= sizeof *events;
    shift_times(events, count, ddp_clock_unix_ns());
    if (w->config.keep_events)
        w->config.keep_events(w->config.ctx, rank, events, count);
    w->ranks[rank].answered = 1;
    w->events_left--;
}

static void hear(void *ctx, int rank, int kind, const void *bytes, size_t count)
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
    case AT_FILE:
        if (w->rank == 0 && count < sizeof w->ranks[rank].file) {
            memcpy(w->ranks[rank].file, bytes, count);
            w->ranks[rank].file[count] = '\0';
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
        take_events(w, rank, bytes, count);
        break;
    case END:
        w->told_to_end = w->rank != 0;
        break;
    default:
        break;
    }
}

void ddp_watch_poll(ddp_watch *w, int wait_ms)
{
    ddp_heartbeat_poll(w->channel, wait_ms, hear, w);
}

static double tell_interval_s(const ddp_watch *w)
{
    double quarter = w->config.timeout_s / 4;

    return quarter > 0 && quarter < tell_s ? quarter : tell_s;
}

void ddp_watch_tell_position(ddp_watch *w, const ddp_rank_position *p)
{
    take_position(w, &w->ranks[0], p);
    if (!w->channel || ddp_watch_seconds_since(w, w->told_ns) < tell_interval_s(w))
        return;
    w->told_ns = w->own_ns;
    if (w->rank > 0) {
        ddp_heartbeat_send(w->channel, 0, POSITION, p, sizeof *p);
        return;
    }
    for (int r = 1; r < w->size; r++)
        ddp_heartbeat_send(w->channel, r, PING, NULL, 0);
}

void ddp_watch_tell_file(ddp_watch *w)
{
    ddp_known_rank *own = &w->ranks[0];

    if (ddp_watch_seconds_since(w, own->moved_ns) < look_s
        || ddp_watch_seconds_since(w, w->looked_ns) < look_s || own->at.phase == DDP_PHASE_WAITING)
        return;
    w->looked_ns = w->own_ns;
    ddp_blocked_file(own->file, sizeof own->file);
    if (w->rank > 0 && w->channel)
        ddp_heartbeat_send(w->channel, 0, AT_FILE, own->file, strlen(own->file));
}

void ddp_watch_send_table_request(ddp_watch *w)
{
    ddp_heartbeat_send(w->channel, 0, ASK_TABLE, NULL, 0);
}

void ddp_watch_ask_events(ddp_watch *w)
{
    w->events_left = 0;
    for (int r = 1; r < w->size; r++)
        if (w->channel && ddp_heartbeat_link(w->channel, r) == DDP_LINK_OPEN) {
            ddp_heartbeat_send(w->channel, r, END, NULL, 0);
            w->events_left++;
        }
}

void ddp_watch_send_events(ddp_watch *w)
{
    ddp_event events[DDP_EVENTS_KEPT];
    size_t count = ddp_flight_recorder_copy(&w->recorder, events);
    int64_t now_ns = ddp_clock_unix_ns();

    shift_times(events, count, -now_ns);
    ddp_heartbeat_send(w->channel, 0, EVENTS, events, count * sizeof *events);
}

void ddp_watch_notify_failing(ddp_watch *w)
{
    if (w->told_failing || !w->channel || !atomic_load(&w->failing))
        return;
    w->told_failing = 1;
    for (int r = 0; r < w->size; r++)
        ddp_heartbeat_send(w->channel, r, FAILING, NULL, 0);
}

void ddp_watch_say_goodbye(ddp_watch *w)
{
    for (int r = 0; w->channel && r < w->size; r++)
        ddp_heartbeat_send(w->channel, r, BYE, NULL, 0);
    if (w->channel)
        ddp_watch_poll(w, 0);
}
