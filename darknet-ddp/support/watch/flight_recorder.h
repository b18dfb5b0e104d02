/* watch/flight_recorder.h: keeps the last thousand events of each rank in memory. When the
 * watch ends the run, they are written to files, which tell which rank broke off first. */
#ifndef DDP_WATCH_FLIGHT_RECORDER_H
#define DDP_WATCH_FLIGHT_RECORDER_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DDP_EVENTS_KEPT = 1000 }; /* how many events of a rank are kept at most */

typedef enum ddp_event_kind {
    DDP_EVENT_NONE,
    DDP_EVENT_PHASE,  /* a phase began; `number` is its ddp_phase */
    DDP_EVENT_STEP,   /* a step began */
    DDP_EVENT_LAUNCH, /* a sum or all-gather of bucket `number` began */
    DDP_EVENT_LAND,   /* a sum or all-gather of bucket `number` arrived */
    DDP_EVENT_FAIL,   /* the rank reported an error */
    /* written by rank 0 for a rank that did not send its events. Its time is when rank 0
     * last heard the rank; `number` is the rank's ddp_phase then */
    DDP_EVENT_SILENT,
    /* written by rank 0 for a rank that did not send its events: it had sent its loss of `step` */
    DDP_EVENT_SENT
} ddp_event_kind;

typedef struct ddp_event {
    int64_t unix_ns; /* nanoseconds since 1970, by the clock of the host that writes the file */
    uint64_t step;   /* step under way, from 1; 0: before the first */
    int32_t kind;    /* a ddp_event_kind */
    int32_t number;  /* a phase or a bucket (ddp_event_kind); without meaning for other kinds */
} ddp_event;

/* The last events of this rank. All zero is an empty recorder. */
typedef struct ddp_flight_recorder {
    struct {
        atomic_int_fast64_t clock_ns; /* time of the event by ddp_clock_ns */
        atomic_uint_fast64_t step, kind_and_number;
    } events[DDP_EVENTS_KEPT];
    atomic_uint_fast64_t count; /* how many events were ever recorded */
} ddp_flight_recorder;

/* Record that an event happens now; step, kind and number are those of ddp_event. From any thread
 * or signal handler. */
void ddp_flight_record(ddp_flight_recorder *r, uint64_t step, ddp_event_kind kind, int32_t number);

/* Copy the events that are kept, the oldest first, to out[0..DDP_EVENTS_KEPT), and return how many
 * they are. A time is what this host's clock shows now, less the time since the event. If another
 * thread records at the time, an event may be a mixture of two. */
size_t ddp_flight_recorder_copy(ddp_flight_recorder *r, ddp_event *out);

/* ---- the file: a line an event, "RANK HOST TIME STEP KIND NUMBER" ---- */

/* Write the events of a rank, a line each. host: name of its host, without spaces. A number
 * that is a phase is followed by the phase's name. */
void ddp_events_write(FILE *out, int rank, const char *host, const ddp_event *events, size_t count);

/* Write to out, of `size` bytes, a few sentences that say which rank broke off first, or that none
 * stands out. The files paths[0..count) hold the events of all ranks.
 * Fails with DDP_ERR_USAGE: count is 0.
 * Fails with DDP_ERR_IO: a file cannot be opened.
 * Fails with DDP_ERR_FORMAT: a line is no event, a file is empty, or there is no memory. */
ddp_status ddp_events_explain(char *out, size_t size, char *const *paths, int count,
                              ddp_error *err) DDP_MUST_CHECK;

#endif
