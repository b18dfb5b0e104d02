#include "bench/forecast.h"

#include "comm/group_schedule.h"
#include "comm/schedule_cost.h"

#include <stdlib.h>

/* Steps that are simulated. The first has no deferred buckets before it; each later one is like the
 * last. With priority, the order must be found first, and the mean of the last few counts. */
enum { STEPS = 3, STEPS_OF_PRIORITY = 12, COUNTED = 4, RADIX = 8, CONNECTIONS = 512 };

static const double payload =
    0.95; /* share of a line that carries gradients: the rest is headers */
static const double line_latency_s = 2e-4; /* from a bucket's last byte to its sum, on all ranks */

/* A bucket's time on the line. share: of it, what a rank's CPU needs for the bucket. */
struct passage {
    double begin, end, share;
};

struct simulation {
    const ddp_forecast_config *config;
    double wire_s_a_byte, cpu_s_a_byte;

    double now;
    struct passage *passages; /* in the order of launching, of all steps */
    size_t launched;
    size_t current;                     /* first passage that has not ended before now */
    size_t step;                        /* number of this step */
    ddp_launch_order order, last_order; /* of this step, and of the one before */
    size_t *counts;                     /* elements of each bucket */
    size_t early;                       /* elements that go early in this step */
    ddp_launch_history history;         /* of `early` */
};

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static double latency_s(const ddp_forecast_config *c)
{
    return c->ranks == 1 ? 0 : line_latency_s;
}

/* Return how many seconds a rank computes in a step. */
static double local_s(const ddp_forecast_config *c)
{
    double forward = 0, backward = 0, update = 0;

    for (int i = 0; i < c->profile->layers; i++) {
        const ddp_layer_times *times = &c->profile->times[i];

        forward += times->forward;
        backward += times->gradients + times->rest;
        update += times->update;
    }
    return c->scale * c->mini_batches * (forward + backward) + update;
}

/* ---- the line ---- */

/* Launch the next bucket in order. */
static void launch(struct simulation *s)
{
    const ddp_forecast_config *c = s->config;
    size_t nth = s->launched % c->plan->bucket_count;
    const ddp_bucket *bucket = &c->plan->buckets[ddp_launch_order_nth(s->order, nth)];
    double bytes = (double)bucket->count * c->value_bytes;
    double cpu_s = bytes * s->cpu_s_a_byte, wire_s = greater(bytes * s->wire_s_a_byte, cpu_s);
    double before = s->launched ? s->passages[s->launched - 1].end : 0;
    struct passage *p = &s->passages[s->launched++];

    p->begin = greater(s->now, before);
    p->end = p->begin + wire_s;
    p->share = wire_s > 0 ? cpu_s / wire_s : 0;
}

/* Wait until the sum of a bucket of this step, or of the one before, has arrived. */
static void wait_for(struct simulation *s, size_t step, size_t bucket)
{
    ddp_launch_order order = step == s->step ? s->order : s->last_order;
    size_t nth = ddp_launch_order_place(order, bucket);
    const struct passage *p = &s->passages[step * s->config->plan->bucket_count + nth];

    s->now = greater(s->now, p->end + latency_s(s->config));
}

/* ---- the rank ---- */

/* Let the rank compute for so long; messages take their share of the CPU meanwhile. */
static void compute(struct simulation *s, double seconds)
{
    double work = seconds;

    if (work <= 0)
        return;
    for (; s->current < s->launched; s->current++) {
        const struct passage *p = &s->passages[s->current];
        double left = p->end - greater(s->now, p->begin);

        if (left <= 0)
            continue;
        if (p->begin > s->now) { /* nothing is on the line until then */
            double alone = p->begin - s->now;

            if (work <= alone)
                break;
            work -= alone;
            s->now = p->begin;
        }
        if (work <= left * (1 - p->share)) {
            s->now += work / (1 - p->share);
            return;
        }
        work -= left * (1 - p->share);
        s->now = p->end;
    }
    s->now += work;
}

static int has_layer(const ddp_bucket *b, int layer)
{
    return b->first_layer <= layer && layer <= b->last_layer;
}

/* Return 1 if the layer's bucket is left to the next step's forward pass, as a deferred or a late
 * one. */
static int is_put_off(const struct simulation *s, ddp_launch_order order, int layer)
{
    for (size_t n = ddp_launch_order_early(order); n < order.sums; n++)
        if (has_layer(&s->config->plan->buckets[ddp_launch_order_nth(order, n)], layer))
            return 1;
    return 0;
}

static void update(struct simulation *s, size_t step, int layer)
{
    for (size_t b = 0; b < s->config->plan->bucket_count; b++)
        if (has_layer(&s->config->plan->buckets[b], layer))
            wait_for(s, step, b);
    compute(s, s->config->profile->times[layer].update);
}

static void forward(struct simulation *s, int first)
{
    const ddp_forecast_config *c = s->config;

    for (int layer = 0; layer < c->profile->layers; layer++) {
        if (first && s->step > 0 && is_put_off(s, s->last_order, layer))
            update(s, s->step - 1, layer);
        compute(s, c->scale * c->profile->times[layer].forward);
    }
}

/* Launch the buckets that have all their gradients, in order. */
static void launch_ready(struct simulation *s, int layer)
{
    const ddp_forecast_config *c = s->config;
    size_t end = s->step * c->plan->bucket_count + ddp_launch_order_early(s->order);

    while (s->launched < end) {
        size_t nth = s->launched % c->plan->bucket_count;

        if (c->plan->buckets[ddp_launch_order_nth(s->order, nth)].first_layer < layer)
            break;
        launch(s);
    }
}

static void backward(struct simulation *s, int last)
{
    const ddp_layer_profile *p = s->config->profile;
    double scale = s->config->scale;

    for (int layer = p->layers - 1; layer >= 0; layer--) {
        compute(s, scale * p->times[layer].gradients);
        if (last && s->config->overlap)
            launch_ready(s, layer);
        compute(s, scale * p->times[layer].rest);
    }
}

static void launch_until(struct simulation *s, size_t nth)
{
    while (s->launched < s->step * s->config->plan->bucket_count + nth)
        launch(s);
}

/* Decide which buckets are early in the next step. */
static void adapt(struct simulation *s)
{
    size_t n = ddp_launch_order_early(s->order), all = 0, early = 0, backlog = 0;

    for (size_t k = 0; k < n + s->order.late; k++) {
        size_t count = s->counts[ddp_launch_order_nth(s->order, k)];

        all += count;
        if (k >= n)
            continue;
        early += count;
        if (s->passages[s->step * s->order.sums + k].end > s->now)
            backlog += count;
    }
    s->early = ddp_launch_order_adapt(&s->history, all, early, backlog);
}

static void run_step(struct simulation *s)
{
    const ddp_forecast_config *c = s->config;

    if (c->priority)
        ddp_launch_order_limit(&s->order, s->counts, s->early);
    for (int m = 0; m < c->mini_batches; m++) {
        forward(s, m == 0);
        backward(s, m == c->mini_batches - 1);
    }
    launch_until(s, ddp_launch_order_early(s->order));
    adapt(s);
    launch_until(s, c->plan->bucket_count);
    for (int layer = c->profile->layers - 1; layer >= 0; layer--)
        if (!is_put_off(s, s->order, layer))
            update(s, s->step, layer);
    s->now += latency_s(c); /* of the loss */
    s->step++;
    s->last_order = s->order;
}

/* Simulate the steps. Returns the mean seconds of those that count. */
static double run_steps(struct simulation *s)
{
    int steps = s->config->priority ? STEPS_OF_PRIORITY : STEPS;
    int counted = s->config->priority ? COUNTED : 1;
    double before = 0;

    for (int step = 0; step < steps; step++) {
        if (step == steps - counted)
            before = s->now;
        run_step(s);
    }
    return (s->now - before) / counted;
}

/* ---- what a byte of gradients costs ---- */

static ddp_status measure_bytes(struct simulation *s, ddp_forecast *out, ddp_error *err)
{
    const ddp_forecast_config *c = s->config;
    struct ddp_rank_hosts hosts = {.count = c->hosts};
    ddp_sum_cost cost;
    int levels;

    out->schedule = c->ranks == 1 ? "none" : "nccl";
    s->wire_s_a_byte = 2.0 * (c->hosts - 1) / c->hosts / (payload * c->bytes_s);
    if (c->ranks == 1 || c->profile->on_gpu)
        return DDP_OK;
    hosts.first = malloc(((size_t)c->hosts + 1) * sizeof *hosts.first);
    if (!hosts.first)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d hosts", c->hosts);
    for (int h = 0; h <= c->hosts; h++)
        hosts.first[h] = (int)((long)c->ranks * h / c->hosts);
    levels = c->schedule == DDP_SCHEDULE_AUTO
                 ? ddp_hierarchical_is_cheaper(&hosts, RADIX, CONNECTIONS)
                 : c->schedule == DDP_SCHEDULE_HIERARCHICAL;
    cost = levels ? ddp_hierarchical_cost(&hosts, RADIX) : ddp_direct_cost(&hosts);
    free(hosts.first);
    out->schedule = levels ? "levels" : "direct";
    s->wire_s_a_byte = cost.inter_host_bytes / DDP_SUM_COST_BYTES / (payload * c->bytes_s);
    s->cpu_s_a_byte = cost.cpu_s / DDP_SUM_COST_BYTES;
    return DDP_OK;
}

static ddp_status open_simulation(struct simulation *s, ddp_error *err)
{
    const ddp_bucket_plan *plan = s->config->plan;

    s->passages = calloc(STEPS_OF_PRIORITY * plan->bucket_count + 1, sizeof *s->passages);
    s->counts = calloc(plan->bucket_count + 1, sizeof *s->counts);
    if (!s->passages || !s->counts)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a prediction");
    for (size_t b = 0; b < plan->bucket_count; b++)
        s->counts[b] = plan->buckets[b].count;
    s->early = plan->count;
    s->order = s->last_order = s->config->order;
    return DDP_OK;
}

ddp_status ddp_forecast_step(ddp_forecast *out, const ddp_forecast_config *c, ddp_error *err)
{
    struct simulation s = {.config = c};
    double bytes = (double)c->plan->count * c->value_bytes;
    ddp_status st;

    *out = (ddp_forecast){0};
    st = measure_bytes(&s, out, err);
    if (!st)
        st = open_simulation(&s, err);
    if (!st)
        out->step = run_steps(&s);
    free(s.passages);
    free(s.counts);
    out->local = local_s(c);
    out->wire = bytes * s.wire_s_a_byte;
    out->cpu = bytes * s.cpu_s_a_byte;
    return st;
}
