#include "bench/trace.h"

/* Rows of the drawing. Sums that travel at the same time take turns in three of them. */
enum { COMPUTE, FIRST_SUMS, SUM_ROWS = 3 };

struct trace {
    FILE *out;
    const ddp_mark *start;
    int events;
};

static double seconds(const struct trace *t, const ddp_mark *mark)
{
    return ddp_mark_seconds(t->start, mark);
}

static void begin_event(struct trace *t, const char *kind, int row)
{
    (void)fprintf(t->out, "%s\n  {\"ph\": \"%s\", \"pid\": 0, \"tid\": %d, ",
                  t->events++ ? "," : "", kind, row);
}

static void name_row(struct trace *t, int row, const char *name)
{
    begin_event(t, "M", row);
    (void)fprintf(t->out, "\"name\": \"thread_name\", \"args\": {\"name\": \"%s\"}}", name);
}

/* Times are in microseconds there. */
static void add_span(struct trace *t, int row, const char *name, const ddp_mark *from,
                     const ddp_mark *to)
{
    begin_event(t, "X", row);
    (void)fprintf(t->out, "\"name\": \"%s\", \"ts\": %.1f, \"dur\": %.1f}", name,
                  seconds(t, from) * 1e6, ddp_mark_seconds(from, to) * 1e6);
}

static void add_passes(struct trace *t, ddp_mark *const *marks, int mini_batches)
{
    for (int m = 0; m < mini_batches; m++) {
        add_span(t, COMPUTE, "forward", marks[2 * m], marks[2 * m + 1]);
        add_span(t, COMPUTE, "backward", marks[2 * m + 1], marks[2 * m + 2]);
    }
    add_span(t, COMPUTE, "update", marks[2 * mini_batches], marks[2 * mini_batches + 1]);
}

static void add_bucket(struct trace *t, const ddp_reducer *reducer, size_t b)
{
    const ddp_plan *plan = ddp_reducer_plan(reducer);
    const ddp_allreduce *sum = ddp_reducer_sum(reducer, b);
    char name[128];

    (void)snprintf(name, sizeof name, "bucket %zu: layers %d to %d, %.3f MB", b + 1,
                   plan->buckets[b].first_layer, plan->buckets[b].last_layer,
                   (double)plan->buckets[b].count * 4 / 1e6);
    add_span(t, FIRST_SUMS + (int)(b % SUM_ROWS), name, ddp_allreduce_began(sum),
             ddp_allreduce_ended(sum));
}

size_t ddp_bench_trace(FILE *out, const ddp_step_clock *clock, const ddp_reducer *reducer,
                       int travels)
{
    const ddp_plan *plan = ddp_reducer_plan(reducer);
    size_t hidden = 0;
    int mini_batches;
    ddp_mark *const *marks = ddp_step_marks(clock, &mini_batches);
    struct trace t = {.out = out, .start = marks[0]};
    double end = seconds(&t, marks[2 * mini_batches]);

    (void)fprintf(out, "{\"traceEvents\": [");
    name_row(&t, COMPUTE, "compute");
    for (int row = 0; row < SUM_ROWS; row++)
        name_row(&t, FIRST_SUMS + row, "sums");
    add_passes(&t, marks, mini_batches);
    for (size_t b = 0; travels && b < plan->bucket_count; b++) {
        add_bucket(&t, reducer, b);
        hidden += seconds(&t, ddp_allreduce_ended(ddp_reducer_sum(reducer, b))) <= end;
    }
    (void)fprintf(out, "\n]}\n");
    return hidden;
}
