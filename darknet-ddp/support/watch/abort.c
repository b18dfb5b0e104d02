#include "watch/state.h"

#include <stdlib.h>

enum { COLLECT_MS = 1500 };

static const int64_t end_patience_ns = 4000000000;

void ddp_watch_print_hang_report(ddp_watch *w, const char *title)
{
    const ddp_known_ranks known = ddp_watch_known_ranks(w);
    char *text = ddp_hang_report_make(title, &known, w->config.describe_bucket, w->config.ctx);

    w->config.say(w->config.ctx, text ? text : title);
    free(text);
}

/* Hand on the events of a rank; rank -1: there are no more. */
static void keep(const ddp_watch *w, int rank, const ddp_event *events, size_t count)
{
    if (w->config.keep_events)
        w->config.keep_events(w->config.ctx, rank, events, count);
}

static void keep_own(ddp_watch *w)
{
    static ddp_event events[DDP_EVENTS_KEPT]; /* used by the only thread that ends the run */

    keep(w, w->rank, events, ddp_flight_recorder_copy(&w->recorder, events));
}

/* Say what this rank's loaders do: rank 0 knows no more of another rank than that it waits. */
static void say_loading(ddp_watch *w)
{
    char text[1024] = "";

    if (w->config.describe_loading && atomic_load(&w->phase) == DDP_PHASE_LOADING)
        w->config.describe_loading(w->config.ctx, text, sizeof text);
    if (text[0])
        w->config.say(w->config.ctx, text);
}

/* Keep what is known of a rank that cannot be asked, in place of its events. */
static void keep_silence(const ddp_watch *w, int rank)
{
    const ddp_known_rank *r = &w->ranks[rank];
    int64_t now_ns = ddp_clock_unix_ns();
    const ddp_event events[] = {{.unix_ns = now_ns - (w->own_ns - r->heard_ns),
                                 .step = r->at.step,
                                 .kind = DDP_EVENT_SILENT,
                                 .number = r->at.phase},
                                {.unix_ns = now_ns - (w->own_ns - w->completed.at_ns),
                                 .step = w->completed.step,
                                 .kind = DDP_EVENT_SENT}};

    keep(w, rank, events, w->completed.step >= r->at.step && w->completed.step > 0 ? 2 : 1);
}

void ddp_watch_abort_all(ddp_watch *w)
{
    int64_t until = ddp_watch_now_ns(w) + COLLECT_MS * (int64_t)1000000;

    ddp_watch_ask_events(w);
    say_loading(w);
    keep_own(w);
    while (w->events_left > 0 && ddp_watch_now_ns(w) < until)
        ddp_watch_poll(w, w->config.tick_ms);
    for (int r = 1; r < w->size; r++)
        if (!w->ranks[r].answered)
            keep_silence(w, r);
    keep(w, -1, NULL, 0);
    w->config.end(w->config.ctx);
}

void ddp_watch_abort_alone(ddp_watch *w, const char *title)
{
    ddp_watch_print_hang_report(w, title);
    say_loading(w);
    keep_own(w);
    keep(w, -1, NULL, 0);
    w->config.end(w->config.ctx);
}

void ddp_watch_exit_after_events(ddp_watch *w)
{
    int64_t until = ddp_watch_now_ns(w) + end_patience_ns;

    say_loading(w);
    ddp_watch_send_events(w);
    while (ddp_watch_now_ns(w) < until && ddp_heartbeat_link(w->channel, 0) == DDP_LINK_OPEN)
        ddp_watch_poll(w, w->config.tick_ms);
    w->config.end(w->config.ctx);
}
