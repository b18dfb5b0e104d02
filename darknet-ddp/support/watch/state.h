/* watch/state.h: the struct of a watch (watch/watch.h), and the functions by which its files call
 * each other. Only these files include it: watch.c (notes where this rank is, runs the thread),
 * heartbeat_messages.c (sends and handles messages), hang_detector.c (finds a hang) and abort.c
 * (ends the run). The watch's thread calls all functions. */
#ifndef DDP_WATCH_STATE_H
#define DDP_WATCH_STATE_H

#include "base/clock.h"
#include "watch/hang_report.h"
#include "watch/watch.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DDP_WATCH_TICK_MS = 200 }; /* default of config.tick_ms */

struct ddp_watch {
    ddp_watch_config config;
    pthread_t thread;
    atomic_int closing;     /* 1: the thread must end */
    atomic_int failing;     /* 1: ddp_watch_fail was called on this rank */
    atomic_int table_asked; /* 1: the table of ranks must be printed */
    int closed;             /* descriptor that can be read when the watch is closing */

    /* Members that say where this rank is (see ddp_rank_position). The main thread writes them, and
     * any thread writes to the recorder. The watch's thread reads them. */
    atomic_uint_fast64_t moves, step;
    atomic_int phase, mini_batch, layer, bucket;
    atomic_uint_fast64_t completed_step; /* last step that all ranks have completed */
    ddp_flight_recorder recorder;

    /* 1: `told` is set. ddp_watch_join sets both members, for the watch's thread. */
    atomic_int joined;
    struct membership {
        int rank, size;
        const char *const *hosts;
        ddp_heartbeat *channel;
        ddp_known_rank *ranks; /* array that the member `ranks` below will point to */
    } told;

    /* 1: ddp_watch_join was called, and the members below are copies of those of `told`. While the
     * watch's thread runs, it alone uses `member` and the members below. */
    int member;
    int rank, size; /* this rank, and number of ranks; 0 and 1 until `member` is 1 */
    const char *const *hosts;
    ddp_heartbeat *channel; /* connects this rank with others; NULL: nothing does */
    /* facts about ranks: rank 0 has all. On another rank only [0] is used; its `left` and `lost_ns`
     * are about rank 0, all else is about this rank */
    ddp_known_rank *ranks;
    ddp_completed_step completed;
    /* nanoseconds that this process has run, without the time in which it was stopped; told_ns to
     * looked_ns are times of this clock */
    int64_t own_ns;
    int64_t last_ns;   /* ddp_watch_now_ns when own_ns last moved on */
    int64_t told_ns;   /* when this rank last sent its position, or on rank 0 its pings */
    int64_t heard_ns;  /* when a message of any rank last came; at first, when this rank joined */
    int64_t moved_ns;  /* when any rank in `ranks` last moved */
    int64_t looked_ns; /* when this rank last looked which file blocks it */
    int warned;        /* 1: a warning was printed, and no rank has moved since */
    int told_failing;  /* 1: ddp_watch_notify_failing has sent its message */
    int told_to_end;   /* 1: rank 0 has told this rank that the run ends */
    int events_left;   /* how many ranks have yet to send their events */
};

/* Return what this rank knows about the ranks, for watch/hang_report.h. */
static inline ddp_known_ranks ddp_watch_known_ranks(const ddp_watch *w)
{
    return (ddp_known_ranks){.ranks = w->ranks,
                             .hosts = w->hosts,
                             .count = w->rank == 0 ? w->size : 1,
                             .first_rank = w->rank,
                             .completed = w->completed,
                             .now_ns = w->own_ns};
}

/* Return the time of ddp_clock_ns, or of the config's clock in a test. */
static inline int64_t ddp_watch_now_ns(const ddp_watch *w)
{
    return w->config.clock_ns ? w->config.clock_ns(w->config.ctx) : ddp_clock_ns();
}

/* Return the seconds from then_ns, a time of the clock w->own_ns, until now. Time in which this
 * process was stopped does not count. */
static inline double ddp_watch_seconds_since(const ddp_watch *w, int64_t then_ns)
{
    return (double)(w->own_ns - then_ns) / 1e9;
}

/* ---- heartbeat_messages.c ---- */

/* Wait at most wait_ms for messages of other ranks, and handle those that have come. Needs
 * w->channel. */
void ddp_watch_poll(ddp_watch *w, int wait_ms);

/* Note this rank's position, *p, in w->ranks. Once a second also send it to rank 0; a timeout_s
 * below 4 s shortens that to a quarter of it. Rank 0 sends the others an empty message, a ping. */
void ddp_watch_tell_position(ddp_watch *w, const ddp_rank_position *p);

/* Find out which file blocks this rank, note it in w->ranks, and send it to rank 0. Only if this
 * rank does not wait for others and has not moved for 0.8 s, and at most every 0.8 s. */
void ddp_watch_tell_file(ddp_watch *w);

/* On another rank than 0: ask rank 0 to print the table of all ranks. Needs w->channel. */
void ddp_watch_send_table_request(ddp_watch *w);

/* If ddp_watch_fail was called on this rank, tell rank 0 (rank 0: all ranks) that this rank ends
 * with its own error, so that it does not count as lost. Sends once. */
void ddp_watch_notify_failing(ddp_watch *w);
/* Tell rank 0 (rank 0: all ranks) that this rank ends without an error. Calls ddp_watch_poll. */
void ddp_watch_say_goodbye(ddp_watch *w);

/* On rank 0: tell each other rank to send its events and end, if its connection is open. Sets
 * w->events_left to the number of ranks that were told. */
void ddp_watch_ask_events(ddp_watch *w);
/* Send this rank's events to rank 0. Needs w->channel. */
void ddp_watch_send_events(ddp_watch *w);

/* ---- hang_detector.c ---- */

/* Check the run; called once a tick or more often. Does nothing after ddp_watch_fail.
 *   rank 0        (any rank before ddp_watch_join) prints the table of ranks if asked for it;
 *                 warns if the run stands still; ends it if that lasts too long, or a rank is lost
 *   other ranks   ask rank 0 for the table if it was asked for here; end themselves if rank 0 is
 *                 lost or silent; do nothing without a channel */
void ddp_watch_detect_hang(ddp_watch *w);

/* ---- abort.c ---- */

/* Print the title and the table of ranks by config.say. */
void ddp_watch_print_hang_report(ddp_watch *w, const char *title);

/* On rank 0: tell all ranks to end, collect their events, and end this process. Waits for the
 * events at most 1.5 s. */
void ddp_watch_abort_all(ddp_watch *w) __attribute__((noreturn));

/* On another rank than 0: print the title, which says that rank 0 is lost or silent, and where this
 * rank is. Hand this rank's events to config.keep_events, and end this process. */
void ddp_watch_abort_alone(ddp_watch *w, const char *title) __attribute__((noreturn));

/* On another rank than 0, when rank 0 has ended the run: send this rank's events, and end this
 * process. Waits until rank 0 has reported for all and is gone, but at most 4 s. */
void ddp_watch_exit_after_events(ddp_watch *w) __attribute__((noreturn));

#endif
