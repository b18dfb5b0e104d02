/* watch/state.h: the struct that the watch's own files share, and no others. They are watch.c
 * (where this rank is, the thread), heartbeat_messages.c (messages between watches),
 * hang_detector.c (does the run still move?) and abort.c (the run has failed). Members that the
 * main thread stores are named below; all others belong to the watch's thread. */
#ifndef DDP_WATCH_STATE_H
#define DDP_WATCH_STATE_H

#include "base/clock.h"
#include "watch/hang_report.h"
#include "watch/watch.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    DDP_WATCH_TICK_MS = 200
}; /* milliseconds from one check to the next, unless the config has another number */

struct ddp_watch {
    ddp_watch_config config;
    pthread_t thread;
    atomic_int closing, failing, table_asked;
    int closed; /* descriptor that can be read when the watch is closing */

    /* Members that say where this rank is: the main thread writes them, the watch's thread reads
     * them. */
    atomic_uint_fast64_t moves, step, all_sent;
    atomic_int phase, mini_batch, layer, bucket, peer;
    ddp_flight_recorder recorder;

    /* Arguments of ddp_watch_join, which the watch's thread takes over when `joined` is set: */
    atomic_int joined;
    struct membership {
        int rank, size;
        const char *const *hosts;
        ddp_heartbeat *channel;
        ddp_watched *ranks; /* by rank; on ranks other than 0 only this rank's, at index 0 */
    } told;

    /* Members that the watch's thread alone uses: */
    int rank, size; /* arguments of ddp_watch_join; 0 and 1 before that call */
    const char *const *hosts;
    ddp_heartbeat *channel;
    ddp_watched *ranks;
    ddp_sent sent;
    int64_t own_ns;    /* nanoseconds that this process has run: clock of times below but last_ns */
    int64_t last_ns;   /* when own_ns was last counted, by ddp_watch_now_ns */
    int64_t told_ns;   /* when this rank last told rank 0 its position; on rank 0: when it last told
                          the others that rank 0 lives */
    int64_t heard_ns;  /* when rank 0 was last heard */
    int64_t moved_ns;  /* when any rank in `ranks` last did something */
    int64_t looked_ns; /* when this rank last asked which file one of its threads is
                          blocked on */
    int member, warned, told_failing;
    int told_to_end; /* 1: rank 0 has ended the run */
    int events_left; /* how many ranks have yet to send their events */
};

/* Return the time of ddp_clock_ns, or of the config's clock in a test. */
static inline int64_t ddp_watch_now_ns(const ddp_watch *w)
{
    return w->config.clock_ns ? w->config.clock_ns(w->config.ctx) : ddp_clock_ns();
}

/* Return the seconds from own_ns, a value of w->own_ns, until now. Time in which this process was
 * stopped does not count. */
static inline double ddp_watch_seconds_since(const ddp_watch *w, int64_t own_ns)
{
    return (double)(w->own_ns - own_ns) / 1e9;
}

/* ---- heartbeat_messages.c ---- */

/* Wait at most wait_ms for messages of the channel, and handle those that have come. */
void ddp_watch_poll(ddp_watch *w, int wait_ms);

/* Note p, this rank's position, in its row of the table. Once a second, or each quarter of the
 * timeout if that is shorter, also send p to rank 0. Rank 0 instead tells the others that rank 0
 * lives. */
void ddp_watch_tell_position(ddp_watch *w, const ddp_rank_position *p);

/* If this rank has not moved for 0.8 s and waits for no sum, find out which file it waits for, at
 * most every 0.8 s. Note the file in this rank's row of the table, and send it to rank 0. */
void ddp_watch_tell_file(ddp_watch *w);

/* Ask rank 0 to print the table of all ranks (watch/hang_report.h). */
void ddp_watch_ask_rank_0(ddp_watch *w);

/* If ddp_watch_fail was called here, tell rank 0 (from rank 0: all) that this rank ends with its
 * own error, so that it is not taken for lost. Sends once. */
void ddp_watch_notify_failing(ddp_watch *w);
/* Tell the other ranks that this one ends in good order. */
void ddp_watch_say_goodbye(ddp_watch *w);

/* On rank 0: tell each rank that can still be reached to end and send its events. Sets
 * w->events_left to their number. */
void ddp_watch_ask_events(ddp_watch *w);
/* Send this rank's events to rank 0. */
void ddp_watch_send_events(ddp_watch *w);

/* ---- hang_detector.c ---- */

/* Print the table of ranks if it was asked for. Warn, or end the run, if it stands still or a rank
 * is gone. Does nothing after ddp_watch_fail. */
void ddp_watch_detect_hang(ddp_watch *w);

/* ---- abort.c ---- */

/* Print the title, and the table of the ranks that this rank knows of, by config.say. */
void ddp_watch_print_hang_report(ddp_watch *w, const char *title);

/* On rank 0: end the run, after collecting the events of all ranks that can still be reached. Waits
 * for them, 1.5 s at most. */
void ddp_watch_abort_all(ddp_watch *w) __attribute__((noreturn));

/* End this rank without rank 0, which is gone or does not end a run that stands still. why: title
 * of the table that is printed. */
void ddp_watch_abort_alone(ddp_watch *w, const char *why) __attribute__((noreturn));

/* Send this rank's events, and end it, because rank 0 has ended the run. Waits in between until
 * rank 0 is gone, 4 s at most: rank 0 speaks for all, and kills this rank if the launcher does
 * not. */
void ddp_watch_exit_after_events(ddp_watch *w) __attribute__((noreturn));

#endif
