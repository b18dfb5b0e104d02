#include "bench/predict.h"

#include "comm/schedule.h"

#include <stdlib.h>

/* STEPS: the first has no deferred buckets before it; each later one is like the last. */
enum { STEPS = 3, RADIX = 8, CONNECTIONS = 512 };

static const double payload = 0.95;        /* of what a line carries: the rest is headers */
static const double line_latency_s = 2e-4; /* from a bucket's last byte to its sum, on all ranks */

/* A bucket on the line. share: of its time, what a rank's CPU needs for it. */
struct passage {
    double begin, end, share;
};

struct simulation {
    const ddp_predict_config *config;
    double wire_s_a_byte, cpu_s_a_byte;

    double now;
    struct passage *passages; /* in the order of launching, of all steps */
    size_t launched;
    size_t current; /* the first that has not ended before now */
    size_t step;    /* this one */
};

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* ---- the line ---- */

/* The next one in the order of launching. */
static void launch(struct simulation *s)
{
    const ddp_predict_config *c = s->config;
    size_t nth = s->launched % c->plan->bucket_count;
    const ddp_bucket *bucket = &c->plan->buckets[ddp_launch_order_nth(c->order, nth)];
    double bytes = (double)bucket->count * c->value_bytes;
    double cpu_s = bytes * s->cpu_s_a_byte, wire_s = greater(bytes * s->wire_s_a_byte, cpu_s);
    double before = s->launched ? s->passages[s->launched - 1].end : 0;
    struct passage *p = &s->passages[s->launched++];

    p->begin = greater(s->now, before);
    p->end = p->begin + wire_s;
    p->share = wire_s > 0 ? cpu_s / wire_s : 0;
}

/* Until that bucket of this step, or of the one before, has arrived. */
static void wait_for(struct simulation *s, size_t step, size_t bucket)
{
    size_t nth = ddp_launch_order_number(s->config->order, bucket);
    const struct passage *p = &s->passages[step * s->config->plan->bucket_count + nth];

    s->now = greater(s->now, p->end + (s->config->ranks > 1 ? line_latency_s : 0));
}

/* ---- the rank ---- */

/* Messages take their share of the time. */
static void compute(struct simulation *s, double seconds)
{
    double work = seconds;

    for (; s->current < s->launched; s->current++) {
        const struct passage *p = &s->passages[s->current];
        double left = p->end - greater(s->now, p->begin);

        if (left <= 0)
            continue;
        if (p->begin > s->now) { /* nothing on the line until then */
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

static int is_deferred(const ddp_predict_config *c, int layer)
{
    for (size_t b = 0; b < c->order.deferred; b++)
        if (has_layer(&c->plan->buckets[b], layer))
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
    const ddp_predict_config *c = s->config;

    for (int layer = 0; layer < c->profile->layers; layer++) {
        if (first && s->step > 0 && is_deferred(c, layer))
            update(s, s->step - 1, layer);
        compute(s, c->scale * c->profile->times[layer].forward);
    }
}

/* Whatever buckets have all their gradients, in order. */
static void launch_ready(struct simulation *s, int layer)
{
    const ddp_predict_config *c = s->config;
    size_t end = s->step * c->plan->bucket_count + ddp_launch_order_undeferred(c->order);

    while (s->launched < end) {
        size_t nth = s->launched % c->plan->bucket_count;

        if (c->plan->buckets[ddp_launch_order_nth(c->order, nth)].first_layer < layer)
            break;
        launch(s);
    }
}

static void backward(struct simulation *s, int last)
{
    const ddp_profile *p = s->config->profile;
    double scale = s->config->scale;

    for (int layer = p->layers - 1; layer >= 0; layer--) {
        compute(s, scale * p->times[layer].gradients);
        if (last && s->config->overlap)
            launch_ready(s, layer);
        compute(s, scale * p->times[layer].rest);
    }
}

static void run_step(struct simulation *s)
{
    const ddp_predict_config *c = s->config;

    for (int m = 0; m < c->mini_batches; m++) {
        forward(s, m == 0);
        backward(s, m == c->mini_batches - 1);
    }
    while (s->launched < (s->step + 1) * c->plan->bucket_count)
        launch(s);
    for (int layer = c->profile->layers - 1; layer >= 0; layer--)
        if (!is_deferred(c, layer))
            update(s, s->step, layer);
    s->now += c->ranks > 1 ? line_latency_s : 0; /* the loss */
    s->step++;
}

/* ---- what a byte of gradients costs ---- */

static ddp_status measure_bytes(struct simulation *s, ddp_prediction *out, ddp_error *err)
{
    const ddp_predict_config *c = s->config;
    struct ddp_hosts hosts = {.count = c->hosts};
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
    levels = c->schedule == DDP_SCHEDULE_AUTO ? ddp_levels_pay(&hosts, RADIX, CONNECTIONS)
                                              : c->schedule == DDP_SCHEDULE_LEVELS;
    cost = levels ? ddp_levels_cost(&hosts, RADIX) : ddp_direct_cost(&hosts);
    free(hosts.first);
    out->schedule = levels ? "levels" : "direct";
    s->wire_s_a_byte = cost.left_bytes / DDP_SUM_COST_BYTES / (payload * c->bytes_s);
    s->cpu_s_a_byte = cost.cpu_s / DDP_SUM_COST_BYTES;
    return DDP_OK;
}

ddp_status ddp_predict(ddp_prediction *out, const ddp_predict_config *c, ddp_error *err)
{
    struct simulation s = {.config = c};
    double bytes = (double)c->plan->count * c->value_bytes, before = 0;

    *out = (ddp_prediction){0};
    if (measure_bytes(&s, out, err))
        return err->code;
    s.passages = calloc(STEPS * c->plan->bucket_count + 1, sizeof *s.passages);
    if (!s.passages)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a prediction");
    for (int step = 0; step < STEPS; step++) {
        before = s.now;
        run_step(&s);
    }
    free(s.passages);
    out->step = s.now - before;
    out->local = c->scale * c->mini_batches
                     * (ddp_profile_forward(c->profile) + ddp_profile_backward(c->profile))
                 + ddp_profile_update(c->profile);
    out->wire = bytes * s.wire_s_a_byte;
    out->cpu = bytes * s.cpu_s_a_byte;
    return DDP_OK;
}
