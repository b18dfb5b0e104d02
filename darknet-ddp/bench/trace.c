#include "bench/trace.h"

/* Rows of the drawing. Sums that travel at the same time take turns in three of them. */
enum { COMPUTE, FIRST_SUMS, SUM_ROWS = 3 };

struct trace {
    FILE *out;
    const ddp_device_event *start;
    int events;
};

static double seconds(const struct trace *t, const ddp_device_event *event)
{
    return ddp_device_event_seconds(t->start, event);
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
static void add_span(struct trace *t, int row, const char *name, const ddp_device_event *from,
                     const ddp_device_event *to)
{
    begin_event(t, "X", row);
    (void)fprintf(t->out, "\"name\": \"%s\", \"ts\": %.1f, \"dur\": %.1f}", name,
                  seconds(t, from) * 1e6, ddp_device_event_seconds(from, to) * 1e6);
}

static void add_passes(struct trace *t, ddp_device_event *const *events, int mini_batches)
{
    for (int m = 0; m < mini_batches; m++) {
        add_span(t, COMPUTE, "forward", events[2 * m], events[2 * m + 1]);
        add_span(t, COMPUTE, "backward", events[2 * m + 1], events[2 * m + 2]);
    }
    add_span(t, COMPUTE, "update", events[2 * mini_batches], events[2 * mini_batches + 1]);
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
    ddp_device_event *const *events = ddp_step_events(clock, &mini_batches);
    struct trace t = {.out = out, .start = events[0]};
    double end = seconds(&t, events[2 * mini_batches]);

    (void)fprintf(out, "{\"traceEvents\": [");
    name_row(&t, COMPUTE, "compute");
    for (int row = 0; row < SUM_ROWS; row++)
        name_row(&t, FIRST_SUMS + row, "sums");
    add_passes(&t, events, mini_batches);
    for (size_t b = 0; travels && b < plan->bucket_count; b++) {
        add_bucket(&t, reducer, b);
        hidden += seconds(&t, ddp_allreduce_ended(ddp_reducer_sum(reducer, b))) <= end;
    }
    (void)fprintf(out, "\n]}\n");
    return hidden;
}
