/* watch/watch.h: a thread of each rank that sees whether the run still moves.
 *
 *  1. The hooks tell watch/watch.c where the rank is: a store or two a layer.
 *  2. Every second the watch's thread tells the one of rank 0 its position, over TCP
 *     (watch/heartbeat.c). MPI would not do: its messages move only while all ranks call it.
 *  3. Rank 0 judges (watch/hang_detector.c): has nothing moved anywhere for too long
 *     (look_for_standstill), or is a connection gone without a goodbye (look_for_lost)?
 *  4. Then it prints a table of all ranks (watch/hang_report.c) and has each send its last 1,000
 *     events (watch/flight_recorder.c). For silent ranks it writes what it knows of them.
 *  5. It ends the job (watch/abort.c). run/watchdog.c prints, writes and aborts for it.
 *
 * If rank 0 itself falls silent, the others end by themselves. The clock counts at most a second a
 * tick, so a suspended machine is no hang. Every function allows NULL as a watch, and then does
 * nothing. */
#ifndef DDP_WATCH_WATCH_H
#define DDP_WATCH_WATCH_H

#include "base/status.h"
#include "watch/flight_recorder.h"
#include "watch/heartbeat.h"
#include "watch/rank_position.h"

typedef struct ddp_watch ddp_watch;

typedef struct ddp_watch_config {
    /* The most seconds in which nothing moves in the run; 0: no limit. Until all ranks have joined
     * it is at least 30 s, or io_timeout_s if that is shorter. */
    double timeout_s;
    double lost_s; /* seconds from the end of a rank's connection, without a goodbye, until the rank
                      counts as lost (rank 0: 3). Till then a rank that fails can report its own
                      error */
    double io_timeout_s; /* seconds in place of timeout_s during a rank's loads, saves, validations
                            and, after all have joined, start; 0: no limit */
    /* The functions below are called by the watch's thread. They and ctx must outlive it. */
    void *ctx;
    /* Show a text of one or several lines, without a newline at its end. Called on rank 0, and on
     * another rank when the run ends. */
    void (*say)(void *ctx, const char *text);
    /* Write to out which layers a bucket holds: "layers 12 to 40". NULL: it is not known. */
    void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size);
    /* Write to out what is known of ranks that have not come yet: "; ...", or "". NULL: nothing. */
    void (*describe_start)(void *ctx, char *out, size_t size);
    /* Write to out what this rank's loaders wait for: a sentence, or "". Called when the run ends
     * while this rank waits for them. NULL: it is not known. */
    void (*describe_loading)(void *ctx, char *out, size_t size);
    /* Keep the events of a rank after the run has failed. Called on rank 0 for each rank that still
     * answers. A rank that cannot reach rank 0 calls it for its own. The last call on a rank has
     * rank -1 and no events. NULL: events are not wanted. */
    void (*keep_events)(void *ctx, int rank, const ddp_event *events, size_t count);
    /* End the process: the run has failed and all has been said. Does not return. */
    void (*end)(void *ctx) __attribute__((noreturn));
    /* For tests: returns the time in nanoseconds. NULL: the system's clock. */
    int64_t (*clock_ns)(void *ctx);
    int tick_ms; /* for tests: milliseconds from one check of the run to the next; 0: 200 */
} ddp_watch_config;

/* Start a thread that watches this process, which does not know its rank yet. *config is copied.
 * *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_watch_open(ddp_watch **out, const ddp_watch_config *config,
                          ddp_error *err) DDP_MUST_CHECK;

/* Watch all ranks from now on. Call once. hosts[r], the name of rank r's host, must outlive the
 * watch. channel: NULL for one rank; else it becomes the watch's, on success. With w NULL the
 * channel is closed. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_watch_join(ddp_watch *w, int rank, int size, const char *const *hosts,
                          ddp_heartbeat *channel, ddp_error *err) DDP_MUST_CHECK;

/* End the watch in good order: tell the others, wait for the thread, free w and its channel. If
 * rank 0 has told this rank to end, config.end ends the process instead. */
void ddp_watch_close(ddp_watch *w);

/* ---- where this rank is; from its main thread ---- */

/* Note that this rank begins a mini-batch, from 0, of a step, from 1. */
void ddp_watch_step(ddp_watch *w, uint64_t step, int mini_batch);
/* Note that this rank begins a phase. */
void ddp_watch_phase(ddp_watch *w, ddp_phase phase);
/* Note that this rank begins a layer, in a phase. */
void ddp_watch_layer(ddp_watch *w, ddp_phase phase, int layer);
/* Note that this rank waits for the sum of a bucket (-1: of the loss, or another), for which rank
 * peer owes something (-1: not known). The rank counts as waiting until the next ddp_watch_phase or
 * ddp_watch_layer. */
void ddp_watch_wait(ddp_watch *w, int bucket, int peer);
/* Note, when a sum over all ranks has arrived, that all have sent their part of this step. */
void ddp_watch_all_sent(ddp_watch *w);
/* Note that this rank has done something, such as receiving data: it counts as moving. */
void ddp_watch_moved(ddp_watch *w);
/* Record an event of this rank, in the step under way. number: by kind
 * (watch/flight_recorder.h). */
void ddp_watch_record(ddp_watch *w, ddp_event_kind kind, int number);

/* ---- from anywhere, a handler of signals too ---- */

/* Ask rank 0 to print the table of all ranks; the run goes on. */
void ddp_watch_ask_hang_report(ddp_watch *w);
/* Note that this rank is about to end with an error that it reports itself. The watch then prints
 * nothing more here, and its next message tells rank 0; rank 0's tells all. Later calls do nothing.
 * w may be NULL. */
void ddp_watch_fail(ddp_watch *w);

#endif
