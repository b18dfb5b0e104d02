/* watch/flight_recorder.h: the last thousand events of a rank, to be read when a run has failed.
 *
 * Any thread may record; nothing is locked, so of events that threads record at the same moment
 * one may be lost.
 */
#ifndef DDP_WATCH_FLIGHT_RECORDER_H
#define DDP_WATCH_FLIGHT_RECORDER_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DDP_EVENTS_KEPT = 1000 };

typedef enum ddp_event_kind {
    DDP_EVENT_NONE,
    DDP_EVENT_PHASE,  /* number: the ddp_phase that begins */
    DDP_EVENT_STEP,   /* a step begins */
    DDP_EVENT_LAUNCH, /* number: a bucket whose sum was started */
    DDP_EVENT_LAND,   /* number: a bucket whose sum is there */
    DDP_EVENT_FAIL,   /* the rank reports an error */
    DDP_EVENT_SILENT, /* said of a rank that could not be asked: when and where (number: the
                         ddp_phase)  it was last heard */
    DDP_EVENT_SENT    /* said of the same: its part of this step had come by then */
} ddp_event_kind;

typedef struct ddp_event {
    int64_t unix_ns; /* wall time of the host that keeps it */
    uint64_t step;
    int32_t kind;
    int32_t number;
} ddp_event;

typedef struct ddp_flight_recorder {
    struct {
        atomic_int_fast64_t clock_ns; /* by ddp_clock_ns, which nobody sets */
        atomic_uint_fast64_t step, kind_and_number;
    } events[DDP_EVENTS_KEPT];
    atomic_uint_fast64_t count; /* since the start; all zero is an empty recorder */
} ddp_flight_recorder;

void ddp_flight_record(ddp_flight_recorder *r, uint64_t step, ddp_event_kind kind, int32_t number);

/* Copy the events that are kept, the oldest first, to out[0..DDP_EVENTS_KEPT), with the wall time
 * that each would have by the host's clock as it is now. Returns how many. */
size_t ddp_flight_recorder_copy(ddp_flight_recorder *r, ddp_event *out);

/* Make every event's time so much later. */
void ddp_events_shift(ddp_event *events, size_t count, int64_t by_ns);

/* ---- the file: a line an event, "RANK HOST TIME STEP KIND NUMBER" ---- */

void ddp_events_write(FILE *out, int rank, const char *host, const ddp_event *events, size_t count);

/* What the events of all ranks say of a failure. */
typedef struct ddp_verdict {
    int ranks;       /* that the files speak of */
    int rank;        /* that broke off first; -1: none stands out */
    char host[128];  /* of that rank */
    ddp_event last;  /* its last event */
    ddp_event sent;  /* of one that could not be asked; DDP_EVENT_NONE: nothing more is known */
    uint64_t step;   /* that the foremost rank reached */
    int foremost;    /* that rank */
    ddp_event ahead; /* its last event */
    int silent;      /* it could not be asked */
    int failed;      /* the rank itself reported an error */
} ddp_verdict;

/* Read files that ddp_events_write wrote. The rank that broke off first is the one that reported
 * an error first; else one that could not be asked, of several the one last heard the longest ago;
 * else the one whose last step, and in it the number of sums launched, is the
 * lowest, if it alone is; else the one whose last event is the oldest, by a second at least.
 * Fails with DDP_ERR_IO, DDP_ERR_FORMAT (names file and line), DDP_ERR_NOMEM. */
ddp_status ddp_events_judge(ddp_verdict *v, char *const *paths, int count,
                            ddp_error *err) DDP_MUST_CHECK;

/* A few sentences about it into out, always ended. */
void ddp_verdict_describe(char *out, size_t size, const ddp_verdict *v);

#endif
