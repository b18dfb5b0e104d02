#include "watch/flight_recorder.h"

#include "base/clock.h"
#include "watch/rank_position.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const kinds[] = {"none", "phase", "step",   "launch",
                                    "land", "fail",  "silent", "sent"};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

#define STORE(place, value) atomic_store_explicit(&(place), (value), memory_order_relaxed)
#define LOAD(place) atomic_load_explicit(&(place), memory_order_relaxed)

void ddp_flight_record(ddp_flight_recorder *r, uint64_t step, ddp_event_kind kind, int32_t number)
{
    uint64_t at = atomic_fetch_add_explicit(&r->count, 1, memory_order_relaxed) % DDP_EVENTS_KEPT;

    STORE(r->events[at].clock_ns, ddp_clock_ns());
    STORE(r->events[at].step, step);
    STORE(r->events[at].kind_and_number, (uint64_t)kind << 32 | (uint32_t)number);
}

size_t ddp_flight_recorder_copy(ddp_flight_recorder *r, ddp_event *out)
{
    uint64_t count = LOAD(r->count);
    uint64_t first = count > DDP_EVENTS_KEPT ? count - DDP_EVENTS_KEPT : 0;
    int64_t began_ns = ddp_clock_unix_ns() - ddp_clock_ns();

    for (uint64_t i = first; i < count; i++) {
        uint64_t at = i % DDP_EVENTS_KEPT, both = LOAD(r->events[at].kind_and_number);

        out[i - first] = (ddp_event){.unix_ns = began_ns + LOAD(r->events[at].clock_ns),
                                     .step = LOAD(r->events[at].step),
                                     .kind = (int32_t)(both >> 32),
                                     .number = (int32_t)(uint32_t)both};
    }
    return (size_t)(count - first);
}

static int has_phase(const ddp_event *e)
{
    return e->kind == DDP_EVENT_PHASE || e->kind == DDP_EVENT_SILENT;
}

void ddp_events_write(FILE *out, int rank, const char *host, const ddp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ddp_event *e = &events[i];
        const char *kind = e->kind >= 0 && e->kind < KINDS ? kinds[e->kind] : "none";

        (void)fprintf(out, "%d %s %" PRId64 ".%09" PRId64 " %" PRIu64 " %s %d%s%s\n", rank, host,
                      e->unix_ns / 1000000000, e->unix_ns % 1000000000, e->step, kind, e->number,
                      has_phase(e) ? " " : "", has_phase(e) ? ddp_phase_name(e->number) : "");
    }
}

/* ---- reading ---- */

struct rank {
    int number;
    char host[128];
    ddp_event last;
    ddp_event failed; /* its first DDP_EVENT_FAIL; DDP_EVENT_NONE: it reported no error */
    ddp_event sent;   /* DDP_EVENT_SENT of a rank that could not be asked; else DDP_EVENT_NONE */
    uint64_t step;
    size_t launched; /* sums that it started in that step */
};

struct ranks {
    struct rank *all;
    size_t count;
};

static struct rank *rank_of(struct ranks *ranks, int number)
{
    struct rank *all;

    for (size_t i = 0; i < ranks->count; i++)
        if (ranks->all[i].number == number)
            return &ranks->all[i];
    all = realloc(ranks->all, (ranks->count + 1) * sizeof *all);
    if (!all)
        return NULL;
    ranks->all = all;
    all[ranks->count] = (struct rank){.number = number};
    return &all[ranks->count++];
}

static int kind_of(const char *word)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i], word) == 0)
            return i;
    return -1;
}

static void take(struct rank *r, const ddp_event *e)
{
    if (e->step > r->step) {
        r->step = e->step;
        r->launched = 0;
    }
    r->launched += e->kind == DDP_EVENT_LAUNCH;
    if (e->kind == DDP_EVENT_FAIL && r->failed.kind == DDP_EVENT_NONE)
        r->failed = *e;
    if (e->kind == DDP_EVENT_SENT)
        r->sent = *e;
    else if (e->unix_ns >= r->last.unix_ns)
        r->last = *e;
}

static int read_line(struct ranks *ranks, const char *line)
{
    ddp_event e = {0};
    struct rank *r;
    char host[128], kind[16];
    int64_t seconds, ns;
    int number;

    if (sscanf(line, "%d %127s %" SCNd64 ".%" SCNd64 " %" SCNu64 " %15s %d", &number, host,
               &seconds, &ns, &e.step, kind, &e.number)
        != 7)
        return 0;
    if (seconds < 0 || seconds > INT64_MAX / 2000000000 || ns < 0 || ns >= 1000000000)
        return 0;
    e.kind = kind_of(kind);
    e.unix_ns = seconds * 1000000000 + ns;
    r = number < 0 || e.kind < 0 ? NULL : rank_of(ranks, number);
    if (!r)
        return 0;
    (void)snprintf(r->host, sizeof r->host, "%s", host);
    take(r, &e);
    return 1;
}

static ddp_status read_file(struct ranks *ranks, const char *path, ddp_error *err)
{
    FILE *in = fopen(path, "r");
    char line[512];
    int number = 0;
    ddp_status st = DDP_OK;

    if (!in)
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    while (!st && fgets(line, sizeof line, in)) {
        number++;
        if (!read_line(ranks, line))
            st = ddp_fail(err, DDP_ERR_FORMAT, "%s, line %d: no event of a run", path, number);
    }
    (void)fclose(in);
    if (!st && number == 0)
        st = ddp_fail(err, DDP_ERR_FORMAT, "%s holds no event", path);
    return st;
}

/* ---- judging ---- */

/* Return 1 if rank a came further than b, -1 if b did, 0 if neither. */
static int compare_progress(const struct rank *a, const struct rank *b)
{
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return (a->launched > b->launched) - (a->launched < b->launched);
}

static const struct rank *first_to_fail(const struct ranks *ranks)
{
    const struct rank *first = NULL;

    for (size_t i = 0; i < ranks->count; i++) {
        const struct rank *r = &ranks->all[i];

        if (r->failed.kind == DDP_EVENT_FAIL
            && (!first || r->failed.unix_ns < first->failed.unix_ns))
            first = r;
    }
    return first;
}

static const struct rank *first_to_be_missed(const struct ranks *ranks)
{
    const struct rank *first = NULL;

    for (size_t i = 0; i < ranks->count; i++) {
        const struct rank *r = &ranks->all[i];

        if (r->last.kind == DDP_EVENT_SILENT && (!first || r->last.unix_ns < first->last.unix_ns))
            first = r;
    }
    return first;
}

/* Return the rank that is behind all others; NULL if there are several. */
static const struct rank *last_in_progress(const struct ranks *ranks)
{
    const struct rank *least = &ranks->all[0];
    size_t equal = 0;

    for (size_t i = 1; i < ranks->count; i++)
        if (compare_progress(&ranks->all[i], least) < 0)
            least = &ranks->all[i];
    for (size_t i = 0; i < ranks->count; i++)
        equal += compare_progress(&ranks->all[i], least) == 0;
    return equal == 1 && ranks->count > 1 ? least : NULL;
}

static const struct rank *first_to_fall_silent(const struct ranks *ranks)
{
    const int64_t clearly = 1000000000;
    const struct rank *oldest = &ranks->all[0];

    for (size_t i = 1; i < ranks->count; i++)
        if (ranks->all[i].last.unix_ns < oldest->last.unix_ns)
            oldest = &ranks->all[i];
    for (size_t i = 0; i < ranks->count; i++)
        if (&ranks->all[i] != oldest && ranks->all[i].last.unix_ns < oldest->last.unix_ns + clearly)
            return NULL;
    return ranks->count > 1 ? oldest : NULL;
}

/* ---- words ---- */

static void describe_time(char *out, size_t size, int64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm utc;

    out[0] = '\0';
    if (gmtime_r(&seconds, &utc))
        (void)strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &utc);
}

static void describe_event(char *out, size_t size, const ddp_event *e)
{
    char when[64];

    describe_time(when, sizeof when, e->unix_ns);
    if (has_phase(e))
        (void)snprintf(out, size, "in step %" PRIu64 ", %s, since %s", e->step,
                       ddp_phase_name(e->number), when);
    else if (e->kind == DDP_EVENT_LAUNCH || e->kind == DDP_EVENT_LAND)
        (void)snprintf(out, size, "in step %" PRIu64 ", bucket %d %s, at %s", e->step, e->number,
                       e->kind == DDP_EVENT_LAUNCH ? "launched" : "landed", when);
    else
        (void)snprintf(out, size, "in step %" PRIu64 ", at %s", e->step, when);
}

static void describe_failed(char *out, size_t size, const struct rank *r)
{
    char failed[160];

    describe_event(failed, sizeof failed, &r->failed);
    (void)snprintf(out, size, "Rank %d on %s reported an error first: %s.", r->number, r->host,
                   failed);
}

static void describe_missed(char *out, size_t size, const struct rank *r)
{
    char last[160], sent[160] = "", when[64];

    describe_event(last, sizeof last, &r->last);
    if (r->sent.kind == DDP_EVENT_SENT) {
        describe_time(when, sizeof when, r->sent.unix_ns);
        (void)snprintf(sent, sizeof sent,
                       " Step %" PRIu64 " it had completed, by what it had sent up to %s.",
                       r->sent.step, when);
    }
    (void)snprintf(out, size,
                   "Rank %d on %s was not heard any more, so its own events are missing: last "
                   "heard %s.%s Its process or its host hangs, is stopped, or is gone.",
                   r->number, r->host, last, sent);
}

/* Describe the rank that stopped before all others, which reported no error; NULL: there is none.
 */
static void describe_stopped(char *out, size_t size, const struct rank *r,
                             const struct ranks *ranks)
{
    const struct rank *foremost = &ranks->all[0];
    char last[160], ahead[160];

    for (size_t i = 1; i < ranks->count; i++)
        if (compare_progress(&ranks->all[i], foremost) > 0)
            foremost = &ranks->all[i];
    if (!r) {
        (void)snprintf(out, size,
                       "No rank stands out: all %zu came equally far, to step %" PRIu64
                       ", and fell silent together. Look for what they share: the launcher, the "
                       "network, a signal.",
                       ranks->count, foremost->step);
        return;
    }
    describe_event(last, sizeof last, &r->last);
    describe_event(ahead, sizeof ahead, &foremost->last);
    (void)snprintf(out, size,
                   "Rank %d on %s broke off first, without an error of its own: last seen %s. "
                   "The foremost, rank %d: %s.",
                   r->number, r->host, last, foremost->number, ahead);
}

/* Describe the first of these ranks that exists:
 *  1. the rank that reported an error first;
 *  2. of the ranks that did not send their events, the one last heard the longest ago;
 *  3. the only rank that came least far, by its last step and the sums launched in it;
 *  4. the rank whose last event is the oldest, by a second at least. */
static void describe_cause(char *out, size_t size, const struct ranks *ranks)
{
    const struct rank *failed = first_to_fail(ranks), *missed = first_to_be_missed(ranks);
    const struct rank *behind = last_in_progress(ranks);

    if (failed)
        describe_failed(out, size, failed);
    else if (missed)
        describe_missed(out, size, missed);
    else
        describe_stopped(out, size, behind ? behind : first_to_fall_silent(ranks), ranks);
}

ddp_status ddp_events_explain(char *out, size_t size, char *const *paths, int count, ddp_error *err)
{
    struct ranks ranks = {0};
    ddp_status st = DDP_OK;

    if (count < 1)
        return ddp_fail(err, DDP_ERR_USAGE, "no file with events was named");
    for (int i = 0; i < count && !st; i++)
        st = read_file(&ranks, paths[i], err);
    if (!st)
        describe_cause(out, size, &ranks);
    free(ranks.all);
    return st;
}
