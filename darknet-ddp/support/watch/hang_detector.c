#include "watch/state.h"

#include <inttypes.h>
#include <stdio.h>

static const int64_t silent_ns =
    3000000000; /* after which a rank, which speaks every second, is missed */
static const double least_start_s = 30;
static const double warn_share =
    0.1; /* share of the timeout without movement after which to warn */
static const double least_warn_s = 1; /* other ranks speak only once a second */
static const double most_warn_s = 10;

/* Return 1 if a rank reads or writes and is heard: its watch speaks beside that. */
static int is_at_io(const ddp_watch *w, int rank)
{
    const ddp_known_rank *r = &w->ranks[rank];

    return ddp_phase_is_io(r->at.phase) && r->heard_ns + silent_ns >= w->own_ns;
}

/* Return the limit until all have joined: a small timeout is meant for steps, and MPI's start may
 * take longer. */
static double start_limit_s(const ddp_watch *w)
{
    double io_s = w->config.io_timeout_s,
           least = io_s > 0 && io_s < least_start_s ? io_s : least_start_s;

    if (w->config.timeout_s <= 0)
        return 0;
    return w->config.timeout_s > least ? w->config.timeout_s : least;
}

/* Return the seconds without any movement after which the run ends; 0: never. */
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

/* End the run if a rank's process has ended. The launcher may be about to end all, and has lost_s
 * for it. */
static void look_for_lost(ddp_watch *w)
{
    for (int r = 1; w->channel && r < w->size; r++) {
        ddp_known_rank *rank = &w->ranks[r];
        char title[512];

        if (rank->left || ddp_heartbeat_link(w->channel, r) != DDP_LINK_LOST)
            continue;
        if (rank->lost_ns == 0)
            rank->lost_ns = w->own_ns;
        if (ddp_watch_seconds_since(w, rank->lost_ns) < w->config.lost_s)
            continue;
        (void)snprintf(title, sizeof title,
                       "rank %d on %s has ended, or its connection has, in the middle of the run",
                       r, w->hosts[r]);
        ddp_watch_print_hang_report(w, title);
        ddp_watch_abort_all(w);
    }
}

/* Return the rank that the others wait for: the one not heard for longest, that waits for a file,
 * or that has not moved for longest. */
static int suspect(const ddp_watch *w)
{
    int found = 0;

    for (int r = 1; r < w->size; r++) {
        const ddp_known_rank *a = &w->ranks[r], *b = &w->ranks[found];
        int a_file = a->file[0] != '\0', b_file = b->file[0] != '\0';
        int a_waits = a->at.phase == DDP_PHASE_WAITING, b_waits = b->at.phase == DDP_PHASE_WAITING;

        if (a->heard_ns + silent_ns < b->heard_ns)
            found = r;
        else if (b->heard_ns + silent_ns < a->heard_ns)
            continue;
        else if (a_file != b_file)
            found = a_file ? r : found;
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
    (void)snprintf(out, size, "the ranks have not come together for %.0f s%s%s%s%s", still_s,
                   ends ? ", and the run ends" : "",
                   w->ranks[0].file[0] ? "; this one waits for the file " : "", w->ranks[0].file,
                   who);
}

static void describe_standstill(const ddp_watch *w, char *out, size_t size, double still_s,
                                int ends)
{
    int r = suspect(w);
    int silent = w->ranks[r].heard_ns + silent_ns < w->own_ns;
    ddp_known_ranks known = ddp_watch_known_ranks(w);
    char at[1024];

    if (!w->member) {
        describe_start(w, out, size, still_s, ends);
        return;
    }
    ddp_known_rank_describe(at, sizeof at, &known, r);
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
    double silent_s = ddp_watch_seconds_since(w, w->heard_ns);
    char title[512], sent[96] = "";

    if (ddp_heartbeat_link(w->channel, 0) == DDP_LINK_LOST && !w->ranks[0].left) {
        if (w->ranks[0].lost_ns == 0)
            w->ranks[0].lost_ns = w->own_ns;
        if (ddp_watch_seconds_since(w, w->ranks[0].lost_ns) < 3)
            return;
        (void)snprintf(title, sizeof title,
                       "rank 0 on %s has ended, or the connection to it has, in the middle of the "
                       "run",
                       w->hosts[0]);
        ddp_watch_abort_alone(w, title);
    }
    /* A rank 0 that lives would have ended the run by now. */
    if (w->config.timeout_s > 0 && silent_s > w->config.timeout_s + 5) {
        if (w->completed.step > 0)
            (void)snprintf(sent, sizeof sent,
                           "; step %" PRIu64 " completed, by what it sent up to %.1f s ago",
                           w->completed.step, ddp_watch_seconds_since(w, w->completed.at_ns));
        (void)snprintf(title, sizeof title, "rank 0 on %s has not been heard for %.0f s%s",
                       w->hosts[0], silent_s, sent);
        ddp_watch_abort_alone(w, title);
    }
}

static double warn_after_s(double limit)
{
    double share = limit * warn_share;

    if (share > most_warn_s)
        return most_warn_s;
    return share > least_warn_s ? share : least_warn_s;
}

static void look_for_standstill(ddp_watch *w)
{
    double still_s = ddp_watch_seconds_since(w, w->moved_ns), limit = limit_s(w);
    char title[2048];

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
    ddp_watch_print_hang_report(w, title);
    ddp_watch_abort_all(w);
}

void ddp_watch_detect_hang(ddp_watch *w)
{
    if (atomic_load(&w->failing) || (w->rank > 0 && !w->channel))
        return;
    if (atomic_exchange(&w->table_asked, 0)) {
        if (w->rank == 0)
            ddp_watch_print_hang_report(w, "where the ranks are");
        else
            ddp_watch_send_table_request(w);
    }
    if (w->rank > 0) {
        look_at_rank_0(w);
        return;
    }
    look_for_lost(w);
    look_for_standstill(w);
}
