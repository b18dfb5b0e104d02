/* watch/state.h: what the watch's own files share: watch.c (where this rank is, the thread),
 * heartbeat_messages.c (messages between watches), hang_detector.c (does the run still move?) and
 * abort.c (the run has failed). Not for others.
 *
 * Everything except the main thread's stores belongs to the watch's thread.
 */
#ifndef DDP_WATCH_STATE_H
#define DDP_WATCH_STATE_H

#include "base/clock.h"
#include "watch/hang_report.h"
#include "watch/watch.h"

#include <pthread.h>
#include <stdatomic.h>

enum { DDP_WATCH_TICK_MS = 200 }; /* unless the config says otherwise */

struct ddp_watch {
    ddp_watch_config config;
    pthread_t thread;
    atomic_int closing, failing, table_asked;
    int closed; /* a descriptor that can be read once it is closing */

    /* Of this rank. The main thread writes, the watch's reads. */
    atomic_uint_fast64_t moves, step, all_sent;
    atomic_int phase, mini_batch, layer, bucket, peer;
    ddp_flight_recorder recorder;

    /* What ddp_watch_join was told; the thread takes it over when `joined` is set. */
    atomic_int joined;
    struct membership {
        int rank, size;
        const char *const *hosts;
        ddp_heartbeat *channel;
        ddp_watched *ranks; /* by rank; on others than 0 its own alone, at 0 */
    } told;

    /* The thread's own. */
    int rank, size; /* as told; before that, the only rank */
    const char *const *hosts;
    ddp_heartbeat *channel;
    ddp_watched *ranks;
    ddp_sent sent;
    int64_t own_ns;    /* time in which this process ran */
    int64_t last_ns;   /* by the clock */
    int64_t told_ns;   /* own time at which it last told rank 0, or rank 0 the others */
    int64_t heard_ns;  /* at which rank 0 was last heard */
    int64_t moved_ns;  /* at which anything moved anywhere */
    int64_t looked_ns; /* at which it was last asked which file this rank waits for */
    int member, warned, told_failing;
    int told_to_end; /* by rank 0 */
    int events_left; /* ranks whose events are awaited */
};

static inline int64_t ddp_watch_now_ns(const ddp_watch *w)
{
    return w->config.clock_ns ? w->config.clock_ns(w->config.ctx) : ddp_clock_ns();
}

/* Since this moment of own_ns's clock, which does not run while this process is stopped. */
static inline double ddp_watch_seconds_since(const ddp_watch *w, int64_t own_ns)
{
    return (double)(w->own_ns - own_ns) / 1e9;
}

/* ---- heartbeat_messages.c ---- */

/* Wait at most so long for messages of the channel, and take those that have come. */
void ddp_watch_poll(ddp_watch *w, int wait_ms);

/* Where this rank is, at p: into its own row of the table, and, as often as the timeout wants it,
 * to rank 0; from there to the others that it lives. */
void ddp_watch_tell(ddp_watch *w, const ddp_rank_position *p);

/* This rank, which has not moved for a while, may wait for a file: into its row, and to rank 0. */
void ddp_watch_tell_file(ddp_watch *w);

/* Have rank 0 print the table. */
void ddp_watch_ask_rank_0(ddp_watch *w);

/* Once: this rank reports an error itself. */
void ddp_watch_notify_failing(ddp_watch *w);
void ddp_watch_say_goodbye(ddp_watch *w);

/* Have each rank that can still speak send its events; their number becomes w->events_left. */
void ddp_watch_ask_events(ddp_watch *w);
void ddp_watch_send_events(ddp_watch *w);

/* ---- hang_detector.c ---- */

/* Print the table where it was asked for; warn, or end the run, where it stands still or a rank is
 * gone. */
void ddp_watch_detect_hang(ddp_watch *w);

/* ---- abort.c ---- */

void ddp_watch_print_hang_report(ddp_watch *w, const char *title);

/* Rank 0: have the events of all that can still speak, and end. */
void ddp_watch_abort_all(ddp_watch *w) __attribute__((noreturn));

/* Another rank: rank 0 is gone, or the run stands still without one. */
void ddp_watch_abort_alone(ddp_watch *w, const char *why) __attribute__((noreturn));

/* Rank 0 has ended the run. It speaks for all, and kills this one if the launcher does not. */
void ddp_watch_exit_after_events(ddp_watch *w) __attribute__((noreturn));

#endif
