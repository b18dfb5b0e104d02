#include "core/trace.h"

#include "base/clock.h"
#include "base/json.h"
#include "comm/collectives.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200000, NAME = 80, TRIES = 12 };

struct span {
    int64_t begin_ns, end_ns;
    int lane;
    char name[NAME];
};

struct ddp_trace {
    pthread_mutex_t lock;
    struct span *spans;
    size_t count, room;
    unsigned loaders; /* a bit for each lane that is taken */
};

ddp_status ddp_trace_open(ddp_trace **out, ddp_error *err)
{
    ddp_trace *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a trace");
    (void)pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return DDP_OK;
}

void ddp_trace_close(ddp_trace *t)
{
    if (!t)
        return;
    (void)pthread_mutex_destroy(&t->lock);
    free(t->spans);
    free(t);
}

/* Room for one more; locked. */
static struct span *next_span(ddp_trace *t)
{
    if (t->count == t->room && t->room < MOST) {
        size_t room = t->room ? 2 * t->room : 1024;
        struct span *grown = realloc(t->spans, room * sizeof *grown);

        if (grown) {
            t->spans = grown;
            t->room = room;
        }
    }
    if (t->count < t->room)
        return &t->spans[t->count++];
    return NULL;
}

void ddp_trace_add(ddp_trace *t, int lane, int64_t begin_ns, int64_t end_ns, const char *format,
                   ...)
{
    struct span *span;
    va_list args;

    if (!t)
        return;
    (void)pthread_mutex_lock(&t->lock);
    span = next_span(t);
    if (span) {
        span->begin_ns = begin_ns;
        span->end_ns = end_ns;
        span->lane = lane;
        va_start(args, format);
        (void)vsnprintf(span->name, sizeof span->name, format, args);
        va_end(args);
    }
    (void)pthread_mutex_unlock(&t->lock);
}

int ddp_trace_begin_load(ddp_trace *t)
{
    int lane = -1;

    (void)pthread_mutex_lock(&t->lock);
    for (int i = 0; i < DDP_LANES - DDP_LANE_LOADERS && lane < 0; i++)
        if (!(t->loaders & 1U << i)) {
            t->loaders |= 1U << i;
            lane = DDP_LANE_LOADERS + i;
        }
    (void)pthread_mutex_unlock(&t->lock);
    return lane;
}

void ddp_trace_end_load(ddp_trace *t, int lane, int64_t begin_ns, const char *name)
{
    if (lane < 0)
        return;
    ddp_trace_add(t, lane, begin_ns, ddp_clock_ns(), "%s", name);
    (void)pthread_mutex_lock(&t->lock);
    t->loaders &= ~(1U << (lane - DDP_LANE_LOADERS));
    (void)pthread_mutex_unlock(&t->lock);
}

/* ---- the file ---- */

static const char *lane_name(int lane)
{
    static const char *const names[] = {
        [DDP_LANE_STEPS] = "steps",
        [DDP_LANE_COMPUTE] = "layers",
        [DDP_LANE_WAITS] = "waits",
        [DDP_LANE_SAVES] = "saves, validations",
    };

    if (lane < DDP_LANE_BUCKETS)
        return names[lane];
    return lane < DDP_LANE_BUCKETS_END ? "buckets" : "loaders";
}

static void put_name(FILE *out, int rank, const char *what, int lane, const char *name)
{
    (void)fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":",
                  rank, lane, what);
    ddp_json_text(out, name);
    (void)fputs("}}", out);
}

static void put_lane(FILE *out, int rank, int lane)
{
    put_name(out, rank, "thread_name", lane, lane_name(lane));
    (void)fprintf(out,
                  ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_sort_index\","
                  "\"args\":{\"sort_index\":%d}}",
                  rank, lane, lane);
}

/* ---- how far the clocks of ranks are apart ----
 *
 * Rank 0 sends a message and a rank answers with its clock; the answer was given between the two,
 * so half of the time of the way there and back is the most that the offset can be wrong. Of
 * several tries the fastest counts. Source: Cristian 1989, Probabilistic clock synchronization. */

typedef struct clock_offset {
    int64_t offset_ns; /* what ddp_clock_ns of the rank is ahead of rank 0's */
    int64_t error_ns;  /* it is that, plus or minus this */
} clock_offset;

/* Every rank takes part in the two messages between rank 0 and this one. */
static ddp_status ask(clock_offset *found, ddp_group *group, int rank, ddp_error *err)
{
    int64_t sent = ddp_clock_ns(), answer, back;

    if (ddp_broadcast(group, &sent, sizeof sent, 0, err))
        return err->code;
    answer = ddp_clock_ns();
    if (ddp_broadcast(group, &answer, sizeof answer, rank, err))
        return err->code;
    back = ddp_clock_ns();
    if (ddp_group_rank(group) == 0 && (back - sent) / 2 < found->error_ns)
        *found = (clock_offset){answer - (sent + (back - sent) / 2), (back - sent) / 2};
    return DDP_OK;
}

/* all[0..size) become the offsets of the ranks, on every rank; of rank 0 both are 0. Blocks until
 * every rank is here. Fails with DDP_ERR_COMM. */
static ddp_status compare_clocks(clock_offset *all, ddp_group *group, ddp_error *err)
{
    int size = ddp_group_size(group);

    all[0] = (clock_offset){0, 0};
    for (int rank = 1; rank < size; rank++) {
        all[rank] = (clock_offset){0, INT64_MAX};
        for (int i = 0; i < TRIES; i++)
            if (ddp_barrier(group, err) || ask(&all[rank], group, rank, err))
                return ddp_wrap(err, "comparing clocks");
    }
    return ddp_broadcast(group, all, (size_t)size * sizeof *all, 0, err);
}

/* ---- writing ---- */

/* This rank's events, on rank 0's clock from zero_ns on, each behind a comma. */
static void put_rank(FILE *out, const ddp_trace *t, int rank, const char *host,
                     const clock_offset *clock, int64_t zero_ns)
{
    char used[DDP_LANES] = {0}, name[300];

    (void)snprintf(name, sizeof name, "rank %d @ %s", rank, host);
    put_name(out, rank, "process_name", 0, name);
    (void)snprintf(name, sizeof name, "clock +- %.1f us", (double)clock->error_ns / 1e3);
    (void)fprintf(
        out, ",\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_labels\",\"args\":{\"labels\":", rank);
    ddp_json_text(out, name);
    (void)fprintf(out,
                  "}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_"
                  "index\":%d}}",
                  rank, rank);
    for (size_t i = 0; i < t->count; i++) {
        const struct span *s = &t->spans[i];

        if (!used[s->lane]++)
            put_lane(out, rank, s->lane);
        used[s->lane] = 1;
        (void)fprintf(
            out, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":", rank,
            s->lane, (double)(s->begin_ns - clock->offset_ns - zero_ns) / 1e3,
            (double)(s->end_ns - s->begin_ns) / 1e3);
        ddp_json_text(out, s->name);
        (void)fputc('}', out);
    }
}

/* NULL: no memory. Free it. */
static char *text_of_rank(ddp_trace *t, ddp_group *group, const clock_offset *clock,
                          int64_t zero_ns, size_t *bytes)
{
    int rank = ddp_group_rank(group);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    *bytes = 0;
    if (!out)
        return NULL;
    (void)pthread_mutex_lock(&t->lock);
    put_rank(out, t, rank, ddp_group_host(group, rank), clock, zero_ns);
    (void)pthread_mutex_unlock(&t->lock);
    if (fclose(out) || !text) {
        free(text);
        return NULL;
    }
    *bytes = size;
    return text;
}

static void put_clocks(FILE *out, const clock_offset *clocks, int size)
{
    (void)fputs("\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"clock\":\"of rank "
                "0\",\"offsets_us\":[",
                out);
    for (int r = 0; r < size; r++)
        (void)fprintf(out, "%s%.3f", r ? "," : "", (double)clocks[r].offset_ns / 1e3);
    (void)fputs("],\"errors_us\":[", out);
    for (int r = 0; r < size; r++)
        (void)fprintf(out, "%s%.3f", r ? "," : "", (double)clocks[r].error_ns / 1e3);
    (void)fputs("]}}\n", out);
}

/* Return when the first span began; 0 if there is none. Another thread may add spans meanwhile. */
static int64_t first_begin(ddp_trace *t)
{
    int64_t begin_ns;

    (void)pthread_mutex_lock(&t->lock);
    begin_ns = t->count ? t->spans[0].begin_ns : 0;
    (void)pthread_mutex_unlock(&t->lock);
    return begin_ns;
}

/* Write the texts of all ranks to `out`, on rank 0. */
static ddp_status put_texts(FILE *out, const char *mine, size_t bytes, ddp_group *group,
                            ddp_error *err)
{
    void *all;
    size_t total;
    ddp_status st = ddp_concatenate_on_first(group, mine, bytes, &all, &total, err);

    if (!st && out && total > 0)
        (void)fwrite((char *)all + 1, 1, total - 1, out); /* no comma before the first */
    free(all);
    return st;
}

ddp_status ddp_trace_write(ddp_trace *t, ddp_group *group, FILE *out, ddp_error *err)
{
    int size = ddp_group_size(group);
    clock_offset *clocks = calloc((size_t)size, sizeof *clocks);
    int64_t zero_ns = first_begin(t);
    size_t bytes = 0;
    char *text = NULL;
    ddp_status st;

    if (!clocks)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the clocks of %d ranks", size);
    st = compare_clocks(clocks, group, err);
    if (!st)
        st = ddp_broadcast(group, &zero_ns, sizeof zero_ns, 0, err);
    if (!st) {
        text = text_of_rank(t, group, &clocks[ddp_group_rank(group)], zero_ns, &bytes);
        if (out)
            (void)fputs("{\"traceEvents\":[", out);
        st = put_texts(out, text, bytes, group, err);
    }
    if (!st && out)
        put_clocks(out, clocks, size);
    free(text);
    free(clocks);
    return st;
}
