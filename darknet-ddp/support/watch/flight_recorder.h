/* watch/flight_recorder.h: the last thousand events of a rank, to be read when a run has failed.
 * Any thread may record. Nothing is locked, so an event that is copied while another takes its
 * place may come out as a mixture of both. */
#ifndef DDP_WATCH_FLIGHT_RECORDER_H
#define DDP_WATCH_FLIGHT_RECORDER_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { DDP_EVENTS_KEPT = 1000 }; /* how many events of a rank are kept, the last ones */

typedef enum ddp_event_kind {
    DDP_EVENT_NONE,
    DDP_EVENT_PHASE,  /* a phase begins; `number` is its ddp_phase */
    DDP_EVENT_STEP,   /* a step begins */
    DDP_EVENT_LAUNCH, /* a sum was started; `number` is its bucket */
    DDP_EVENT_LAND,   /* a sum has arrived; `number` is its bucket */
    DDP_EVENT_FAIL,   /* the rank reports an error */
    /* when a rank that did not send its events was last heard, and in which step; `number` is its
     * ddp_phase then */
    DDP_EVENT_SILENT,
    DDP_EVENT_SENT /* when it became known that a silent rank had sent its data of this step */
} ddp_event_kind;

typedef struct ddp_event {
    int64_t unix_ns; /* wall time by the clock of the host that keeps the event */
    uint64_t step;
    int32_t kind;
    int32_t number;
} ddp_event;

/* All zero is an empty recorder. */
typedef struct ddp_flight_recorder {
    struct {
        atomic_int_fast64_t clock_ns; /* time of the event by ddp_clock_ns */
        atomic_uint_fast64_t step, kind_and_number;
    } events[DDP_EVENTS_KEPT];
    atomic_uint_fast64_t count; /* how many events were ever recorded */
} ddp_flight_recorder;

/* Record an event, which happens now. From any thread. */
void ddp_flight_record(ddp_flight_recorder *r, uint64_t step, ddp_event_kind kind, int32_t number);

/* Copy the events that are kept, the oldest first, to out[0..DDP_EVENTS_KEPT), and return how many
 * they are. Their times become wall time by this host's clock as it is now. */
size_t ddp_flight_recorder_copy(ddp_flight_recorder *r, ddp_event *out);

/* Add by_ns nanoseconds to the time of events[0..count). */
void ddp_events_shift(ddp_event *events, size_t count, int64_t by_ns);

/* ---- the file: a line an event, "RANK HOST TIME STEP KIND NUMBER" ---- */

/* Write the events of a rank, a line each. Behind a number that is a ddp_phase stands its name. */
void ddp_events_write(FILE *out, int rank, const char *host, const ddp_event *events, size_t count);

/* The cause of a failure, by the events of all ranks. */
typedef struct ddp_verdict {
    int ranks;      /* how many ranks the files tell of */
    int rank;       /* rank that broke off first, the culprit; -1: none stands out */
    char host[128]; /* the culprit's host */
    ddp_event last; /* the culprit's last event, or its first error */
    /* the culprit's DDP_EVENT_SENT, if it did not send its events; kind DDP_EVENT_NONE: none */
    ddp_event sent;
    uint64_t step;   /* step of the rank that came furthest */
    int foremost;    /* rank that came furthest */
    ddp_event ahead; /* last event of the rank that came furthest */
    int silent;      /* 1: `rank` did not send its events */
    int failed;      /* 1: `rank` reported an error itself */
} ddp_verdict;

/* Read the files paths[0..count) of ddp_events_write, and find the rank that broke off first. It is
 * the first of these ranks that exists:
 *  1. the rank that reported an error first;
 *  2. of the ranks that could not be asked, the one last heard the longest ago;
 *  3. the only rank that came least far, by its last step and the sums launched in it;
 *  4. the rank whose last event is the oldest, by a second at least.
 * Fails with DDP_ERR_USAGE (count is 0), DDP_ERR_IO, DDP_ERR_FORMAT (a line is no event, a file is
 * empty, or there is no memory). */
ddp_status ddp_events_judge(ddp_verdict *v, char *const *paths, int count,
                            ddp_error *err) DDP_MUST_CHECK;

/* Write a few sentences about *v to out, of `size` bytes; always ended by a zero. */
void ddp_verdict_describe(char *out, size_t size, const ddp_verdict *v);

#endif
