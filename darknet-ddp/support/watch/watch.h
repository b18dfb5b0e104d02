/* watch/watch.h: a thread of each rank that sees whether the run still moves.
 *
 * The rank says where it is as it goes (a store or two a layer). Its watch tells rank 0's, over a
 * channel of their own, every second; rank 0's finds out when nothing has moved anywhere for too
 * long, which rank has ended, and which has fallen silent, and then says so with a table of all
 * ranks, collects the last events of each, and ends the job. Time in which this process did not run
 * (a suspended machine) does not count. Where rank 0 itself falls silent the others end by
 * themselves.
 *
 * NULL is allowed as a watch everywhere: nothing is watched.
 *
 * The hooks tell watch/watch.c where the rank is: a store or two a layer, read by a thread of its
 * own. Every second that thread tells rank 0's over watch/heartbeat.c, a TCP connection beside MPI,
 * because MPI's messages move only while all ranks call it. Rank 0 judges: nothing moved anywhere
 * (look_for_standstill in watch/hang_detector.c), or a connection is gone without a goodbye
 * (look_for_lost). Then it prints the table (watch/hang_report.c), has each rank send its last
 * 1,000 events (watch/flight_recorder.c), writes what it knows in place of what silent ranks cannot
 * send, and ends the job (watch/abort.c). run/watchdog.c prints, writes and aborts for it. The
 * clock counts at most a second a tick, so a suspended machine is no hang.
 */
#ifndef DDP_WATCH_WATCH_H
#define DDP_WATCH_WATCH_H

#include "base/status.h"
#include "watch/flight_recorder.h"
#include "watch/heartbeat.h"
#include "watch/rank_position.h"

typedef struct ddp_watch ddp_watch;

typedef struct ddp_watch_config {
    double timeout_s;    /* in which something must move, or, within 30 s if
                            that is more, all must have joined; 0: for ever */
    double lost_s;       /* how long a connection must be gone without a goodbye until the rank
                            counts as lost: time for the error of a rank that fails */
    double io_timeout_s; /* the same while a rank loads, saves, validates or, once all have joined,
                            starts */
    /* All of these are called by the watch's thread, and must outlive it. */
    void *ctx;
    /* A text to be shown, several lines. On rank 0, and where a rank is on its own. */
    void (*say)(void *ctx, const char *text);
    /* Which layers a bucket holds, "layers 12 to 40", into out; NULL: not known. */
    void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size);
    /* What is known of ranks that have not come yet, "; ..." into out, or nothing; NULL: nothing.
     */
    void (*describe_start)(void *ctx, char *out, size_t size);
    /* What this rank's loaders wait for, a sentence into out, or nothing; NULL: not known. Asked
     * where the run ends while this rank waits for them. */
    void (*describe_loading)(void *ctx, char *out, size_t size);
    /* Rank 0: the events of a rank, when the run has failed; with rank -1: there are no more.
     * Another rank calls it for its own where rank 0 cannot be reached. NULL: not wanted. */
    void (*keep_events)(void *ctx, int rank, const ddp_event *events, size_t count);
    /* The run has failed and all has been said; does not return. */
    void (*end)(void *ctx) __attribute__((noreturn));
    /* Of a test, which then says what time it is: nanoseconds, and how long the thread waits for
     * messages before it looks again. NULL and 0: the system's clock, and a fifth of a second. */
    int64_t (*clock_ns)(void *ctx);
    int tick_ms;
} ddp_watch_config;

/* Begin to watch this process, which does not know yet which rank it is. *out is set on success.
 * Fails with DDP_ERR_NOMEM. */
ddp_status ddp_watch_open(ddp_watch **out, const ddp_watch_config *config,
                          ddp_error *err) DDP_MUST_CHECK;

/* From here on with all ranks. hosts: the name of each rank's, and must outlive the watch; channel:
 * of ranks more than one, and then the watch's; else NULL. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_watch_join(ddp_watch *w, int rank, int size, const char *const *hosts,
                          ddp_heartbeat *channel, ddp_error *err) DDP_MUST_CHECK;

/* The run ends in good order; so it is told to rank 0. Waits for the thread. */
void ddp_watch_close(ddp_watch *w);

/* ---- where this rank is; from its main thread ---- */

void ddp_watch_step(ddp_watch *w, uint64_t step, int mini_batch);
void ddp_watch_phase(ddp_watch *w, ddp_phase phase);
void ddp_watch_layer(ddp_watch *w, ddp_phase phase, int layer);
/* Waiting for a bucket (-1: for the loss, or the like), a part of which rank peer owes (-1: not
 * known); ends with the next ddp_watch_phase or ddp_watch_layer. */
void ddp_watch_wait(ddp_watch *w, int bucket, int peer);
/* All ranks have sent their part of the step that is under way: a sum over them is there. */
void ddp_watch_all_sent(ddp_watch *w);
/* Something has been done: data came, say. */
void ddp_watch_moved(ddp_watch *w);
void ddp_watch_record(ddp_watch *w, ddp_event_kind kind, int number);

/* ---- from anywhere, a handler of signals too ---- */

/* Have the table printed, on rank 0, and go on. */
void ddp_watch_ask_hang_report(ddp_watch *w);
/* This rank reports an error itself and is about to end; the watch says nothing of it then. */
void ddp_watch_fail(ddp_watch *w);

#endif
