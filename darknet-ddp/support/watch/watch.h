/* watch/watch.h: a watchdog. A thread of each rank finds out whether the run hangs, and ends it
 * then with a report.
 *
 *  1. The main thread notes where the rank is, at each layer and phase.
 *  2. About every second, or more often, the watch's thread sends that position to rank 0 by TCP
 *     (watch/heartbeat.c). MPI would not do: its messages move only while the program calls it.
 *  3. Every 0.2 s (a tick) or more often, rank 0 checks (watch/hang_detector.c): has no rank moved
 *     for too long, or has a rank's connection ended without a goodbye?
 *  4. If so, rank 0 prints a table of all ranks (watch/hang_report.c), and collects the last 1,000
 *     events of each (watch/flight_recorder.c).
 *  5. It ends the job (watch/abort.c). The functions in ddp_watch_config print, write and abort.
 *
 * If rank 0 is lost, or silent for timeout_s + 5 s (timeout_s not 0), each other rank ends by
 * itself. A suspended machine is no hang: the watch's clock counts at most a second a tick. With
 * NULL as the watch, functions do nothing (ddp_watch_join closes its channel). Call from the main
 * thread; ddp_watch_ask_hang_report and ddp_watch_fail also from any thread or signal handler. */
#ifndef DDP_WATCH_WATCH_H
#define DDP_WATCH_WATCH_H

#include "base/status.h"
#include "watch/flight_recorder.h"
#include "watch/heartbeat.h"
#include "watch/rank_position.h"

typedef struct ddp_watch ddp_watch;

typedef struct ddp_watch_config {
    /* Seconds in which no rank moves, after which the run ends; 0: never, but see io_timeout_s.
     * Before ddp_watch_join at least 30 s, or io_timeout_s if that is shorter and not 0. */
    double timeout_s;
    /* After ddp_watch_join: the limit in place of timeout_s, even of 0, while a rank that is still
     * heard starts, loads, saves or validates; 0: no limit. */
    double io_timeout_s;
    /* On rank 0: seconds from the loss of a rank's connection, without a goodbye, to the end of the
     * run. The rank can report its own error before. Other ranks end 3 s after rank 0 is lost. */
    double lost_s;
    /* The watch's thread calls the functions below. They and ctx must outlive the watch. Only `say`
     * and `end` must not be NULL. */
    void *ctx;
    /* Print a text of one or several lines, without a newline at its end. The watch's thread calls
     * it on rank 0, and on other ranks before ddp_watch_join and when the watch ends the run. */
    void (*say)(void *ctx, const char *text);
    /* Write to out which layers a bucket holds: "layers 12 to 40". NULL: it is not known. */
    void (*describe_bucket)(void *ctx, int bucket, char *out, size_t size);
    /* Write to out why the ranks may not have met yet: "; ...", or "". NULL: it is not known. */
    void (*describe_start)(void *ctx, char *out, size_t size);
    /* Write to out what this rank's loaders wait for: a sentence, or "". Called if the watch
     * ends the run while this rank waits for its loaders. NULL: it is not known. */
    void (*describe_loading)(void *ctx, char *out, size_t size);
    /* Write the events of a rank to a file, when the watch ends the run. Rank 0 calls it for each
     * rank. A rank that cannot reach rank 0 calls it for itself. Before ddp_watch_join each
     * process does so, with rank 0. The last call has rank -1 and no events. NULL: events are not
     * wanted. */
    void (*keep_events)(void *ctx, int rank, const ddp_event *events, size_t count);
    /* End the process, after all else is reported. Does not return. */
    void (*end)(void *ctx) __attribute__((noreturn));
    /* For tests: returns the time in nanoseconds. NULL: the system's clock. */
    int64_t (*clock_ns)(void *ctx);
    int tick_ms; /* for tests: most milliseconds from one check of the run to the next; 0: 200 */
} ddp_watch_config;

/* Start the watch's thread. Until ddp_watch_join it watches this process alone. Copies *config.
 * *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_watch_open(ddp_watch **out, const ddp_watch_config *config,
                          ddp_error *err) DDP_MUST_CHECK;

/* Watch all ranks from now on: this is rank `rank` of `size`. Call once.
 *   hosts     hosts[r] is the name of rank r's host; must outlive the watch
 *   channel   connects the ranks; NULL: rank 0 watches itself, other ranks are not watched. On
 *             success the watch owns it; without a watch (w is NULL) this call closes it
 * Fails with DDP_ERR_NOMEM; the caller must then close the channel. */
ddp_status ddp_watch_join(ddp_watch *w, int rank, int size, const char *const *hosts,
                          ddp_heartbeat *channel, ddp_error *err) DDP_MUST_CHECK;

/* End the watch when this rank ends without an error: tell rank 0 (rank 0: all ranks), stop the
 * thread, and free w and its channel. If rank 0 has ended the run, config.end ends the process. */
void ddp_watch_close(ddp_watch *w);

/* ---- where this rank is ---- */

/* Note that this rank begins a mini-batch, from 0, of a step, from 1. */
void ddp_watch_step(ddp_watch *w, uint64_t step, int mini_batch);
/* Note that this rank begins a phase. */
void ddp_watch_phase(ddp_watch *w, ddp_phase phase);
/* Note that this rank begins a layer, in a phase. */
void ddp_watch_layer(ddp_watch *w, ddp_phase phase, int layer);
/* Note that this rank waits for a bucket (-1: for other data) until its next phase or layer. */
void ddp_watch_wait(ddp_watch *w, int bucket);
/* Note that all ranks have completed the step under way: the sum of their losses has arrived. */
void ddp_watch_step_completed(ddp_watch *w);
/* Note that this rank still moves, since it has received data for example. */
void ddp_watch_moved(ddp_watch *w);
/* Record an event of this rank in its flight recorder. number: see ddp_event_kind. */
void ddp_watch_record(ddp_watch *w, ddp_event_kind kind, int number);

/* ---- also from signal handlers ---- */

/* Ask rank 0 to print the table of all ranks; the run goes on. */
void ddp_watch_ask_hang_report(ddp_watch *w);
/* Note that this rank is about to end with an error that it reports itself. From now on the watch
 * looks for no hang here, and ends this rank only if rank 0 ends the run. Within a tick it tells
 * rank 0 (rank 0's watch: all ranks), so that this rank does not count as lost. */
void ddp_watch_fail(ddp_watch *w);

#endif
