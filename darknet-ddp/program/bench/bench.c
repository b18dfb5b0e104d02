#include "bench/bench.h"

#include "base/clock.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "comm/group_schedule.h"
#include "comm/work.h"
#include "core/reducer.h"
#include "core/trace.h"
#include "timing/synthetic.h"
#include "timing/timed_step.h"
#include "timing/tracer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARMUP = 2, POLL_US = 200 };

enum { IN_FORWARD, IN_BACKWARD, IN_EXPOSED, IN_UPDATE, IN_STEP, IN_LOCAL, IN_WIRE, SAMPLES };

static const char *const names[SAMPLES] = {"forward", "backward",   "exposed",      "update",
                                           "step",    "local_step", "communication"};
static const char *const meanings[SAMPLES] = {
    "of a step, with deferred updates, less communication in it",
    "of a step, less communication in it",
    "communication that nothing hid",
    "of a step, less communication in it",
    "a whole step",
    "a step without communication, of the slowest rank",
    "a step's communication alone",
};

struct bench {
    const ddp_bench_config *config;
    ddp_device *device;
    ddp_reducer *reducer;
    ddp_step_clock *clock;
    ddp_sample *samples;
};

static double seconds_since(int64_t start_ns)
{
    return (double)(ddp_clock_ns() - start_ns) / 1e9;
}

static void add_time(struct bench *b, int sample, double seconds)
{
    ddp_sample *s = &b->samples[sample];

    s->seconds[s->count++] = seconds;
}

/* Wait until every rank is here, with its GPU at rest. */
static ddp_status wait_for_all(struct bench *b, ddp_error *err)
{
    ddp_device_synchronize(b->device);
    return ddp_barrier(b->config->group, err);
}

/* Replace *seconds by the longest of all ranks' times: no step of theirs can be shorter. */
static ddp_status slowest(struct bench *b, double *seconds, ddp_error *err)
{
    double *all = ddp_allgather_new(b->config->group, seconds, sizeof *seconds, err);

    if (!all)
        return err->code;
    for (int rank = 0; rank < ddp_group_size(b->config->group); rank++)
        if (all[rank] > *seconds)
            *seconds = all[rank];
    free(all);
    return DDP_OK;
}

static ddp_status time_step(struct bench *b, int alone, ddp_timed_step *times, ddp_error *err)
{
    if (ddp_step_run(b->clock, alone, err))
        return err->code;
    return ddp_step_read(b->clock, times, err);
}

static void publish_nothing(const void *ctx, size_t bucket)
{
    (void)ctx;
    (void)bucket;
}

/* With -ddp_shard_optimizer: gather what the update would leave in buckets. */
static ddp_status gather_shares(struct bench *b, ddp_error *err)
{
    ddp_status st = DDP_OK;

    if (!ddp_reducer_sharded_sums(b->reducer))
        return DDP_OK;
    st = ddp_reducer_send_updated(b->reducer, publish_nothing, NULL, err);
    for (int layer = 0; layer < b->config->shape.layers && !st; layer++)
        st = ddp_reducer_receive_updated(b->reducer, layer, publish_nothing, NULL, err);
    return st;
}

/* Do a step's communication: launch every bucket, wait for every layer, and for the GPU. */
static ddp_status communicate(struct bench *b, int sleep_between_polls, ddp_error *err)
{
    int layers = b->config->shape.layers, used;
    ddp_status st = DDP_OK;

    ddp_reducer_backward_begin(b->reducer, 1);
    for (int layer = layers - 1; layer >= 0 && !st; layer--)
        st = ddp_reducer_layer_ready(b->reducer, layer, err);
    if (!st)
        st = ddp_reducer_backward_end(b->reducer, err);
    if (!st)
        st = ddp_reducer_launch_deferred(b->reducer, err);
    while (sleep_between_polls && !st && !ddp_reducer_done(b->reducer)) {
        (void)usleep(POLL_US);
        st = ddp_reducer_progress(b->reducer, err);
    }
    for (int layer = layers - 1; layer >= 0 && !st; layer--)
        st = ddp_reducer_layer_wait(b->reducer, layer, &used, err);
    if (!st)
        st = gather_shares(b, err);
    ddp_device_synchronize(b->device);
    return st;
}

/* Time a step without communication. A GPU gets a step while it ends the one before. So the second
 * of two in a row counts: the first had an idle GPU before it. On a CPU both are the same. */
static ddp_status time_local(struct bench *b, ddp_error *err)
{
    ddp_timed_step times;

    ddp_trainer_flush(b->config->trainer);
    if (wait_for_all(b, err))
        return err->code;
    if (!ddp_device_is_host(b->device) && ddp_step_run(b->clock, 1, err))
        return err->code;
    if (time_step(b, 1, &times, err) || slowest(b, &times.step, err))
        return err->code;
    add_time(b, IN_LOCAL, times.step);
    return DDP_OK;
}

static ddp_status time_wire(struct bench *b, ddp_error *err)
{
    int64_t start;

    if (wait_for_all(b, err))
        return err->code;
    start = ddp_clock_ns();
    if (communicate(b, 0, err))
        return err->code;
    add_time(b, IN_WIRE, seconds_since(start));
    return DDP_OK;
}

/* Time the second of two whole steps in a row. It has the deferred gradients of the first in it,
 * and leaves its own to the next, as in training. */
static ddp_status time_whole(struct bench *b, ddp_error *err)
{
    ddp_timed_step times;

    if (wait_for_all(b, err) || ddp_step_run(b->clock, 0, err) || time_step(b, 0, &times, err))
        return err->code;
    add_time(b, IN_STEP, times.step);
    add_time(b, IN_FORWARD, times.forward);
    add_time(b, IN_BACKWARD, times.backward);
    add_time(b, IN_UPDATE, times.update);
    add_time(b, IN_EXPOSED, times.exposed);
    return DDP_OK;
}

static ddp_status time_all(struct bench *b, ddp_error *err)
{
    for (int i = 0; i < WARMUP + b->config->steps; i++) {
        if (i == WARMUP)
            for (int s = 0; s < SAMPLES; s++)
                b->samples[s].count = 0;
        if (time_local(b, err) || time_wire(b, err) || time_whole(b, err))
            return err->code;
    }
    return DDP_OK;
}

/* Return the bytes that a host's ranks sent to other hosts. */
static double inter_host_bytes(const ddp_group *g, const char *host, const ddp_traffic *sent)
{
    double bytes = 0;

    for (int rank = 0; rank < ddp_group_size(g); rank++)
        if (strcmp(ddp_group_host(g, rank), host) == 0)
            bytes += (double)sent[rank].inter_host_bytes;
    return bytes;
}

static ddp_status count_traffic(ddp_bench_result *r, const ddp_bench_config *c, ddp_traffic before,
                                ddp_error *err)
{
    ddp_traffic now = ddp_group_traffic(c->group), *all;
    ddp_traffic mine = {.messages = now.messages - before.messages,
                        .bytes = now.bytes - before.bytes,
                        .inter_host_bytes = now.inter_host_bytes - before.inter_host_bytes};

    all = ddp_allgather_new(c->group, &mine, sizeof mine, err);
    if (!all)
        return err->code;
    r->counted = ddp_group_schedule(c->group) != NULL;
    for (int rank = 0; rank < ddp_group_size(c->group); rank++) {
        double mb =
            inter_host_bytes(c->group, ddp_group_host(c->group, rank), all) / c->steps / 1e6;
        uint64_t messages = all[rank].messages / (uint64_t)c->steps;

        r->inter_host_mb = mb > r->inter_host_mb ? mb : r->inter_host_mb;
        r->messages = messages > r->messages ? messages : r->messages;
    }
    free(all);
    return DDP_OK;
}

static ddp_status time_cpu(struct bench *b, ddp_bench_result *r, ddp_error *err)
{
    ddp_traffic before;
    int steps = b->config->steps;
    int64_t start;

    ddp_trainer_flush(b->config->trainer);
    if (wait_for_all(b, err))
        return err->code;
    before = ddp_group_traffic(b->config->group);
    start = ddp_clock_cpu_ns();
    for (int i = 0; i < steps; i++)
        if (communicate(b, 1, err))
            return err->code;
    r->cpu_s = (double)(ddp_clock_cpu_ns() - start) / 1e9 / steps;
    return count_traffic(r, b->config, before, err);
}

/* Count the buckets of the last step whose sums had ended when its last backward pass did. All sums
 * must have ended. */
static size_t count_hidden(const struct bench *b)
{
    int mini_batches;
    ddp_device_event *const *events = ddp_step_events(b->clock, &mini_batches);
    double end_s = ddp_device_event_seconds(events[0], events[2 * mini_batches]);
    size_t hidden = 0, bucket, last = 0;
    int all = 1; /* 1: the bucket's sums so far had ended */

    for (size_t i = 0; i < ddp_reducer_piece_count(b->reducer); i++, last = bucket) {
        const ddp_work *sum = ddp_reducer_sum(b->reducer, i, &bucket);

        if (i > 0 && bucket != last) {
            hidden += (size_t)all;
            all = 1;
        }
        all &= !sum || ddp_device_event_seconds(events[0], ddp_work_ended(sum)) <= end_s;
    }
    hidden += (size_t)(all && ddp_reducer_piece_count(b->reducer) > 0);
    return hidden;
}

/* Run two steps, and trace the second one. */
static ddp_status trace_step(struct bench *b, ddp_trace *trace, ddp_error *err)
{
    const ddp_bench_config *config = b->config;
    ddp_tracer *tracer;
    ddp_status st;

    if (wait_for_all(b, err) || ddp_step_run(b->clock, 0, err)
        || ddp_tracer_begin(&tracer, trace, config->group, config->trainer, config->net, err))
        return err->code;
    st = ddp_step_run(b->clock, 0, err);
    ddp_tracer_end(tracer);
    return st;
}

/* Run a step once more for the trace. */
static ddp_status draw_step(struct bench *b, size_t *hidden, ddp_error *err)
{
    const ddp_bench_config *config = b->config;
    ddp_timed_step times;
    ddp_trace *trace;
    ddp_status st;

    if (ddp_trace_open(&trace, err))
        return err->code;
    st = trace_step(b, trace, err);
    if (!st)
        st = ddp_step_read(b->clock, &times, err);
    if (!st && ddp_group_size(config->group) > 1)
        *hidden = count_hidden(b);
    if (!st)
        st = ddp_trace_write(trace, config->group, config->trace, err);
    ddp_trace_close(trace);
    return st;
}

static ddp_status open_samples(ddp_bench_result *r, ddp_error *err)
{
    int steps = r->config->steps;

    r->samples = calloc(SAMPLES, sizeof *r->samples);
    r->sample_count = r->samples ? SAMPLES : 0;
    for (size_t s = 0; s < r->sample_count; s++) {
        r->samples[s] = (ddp_sample){.name = names[s], .meaning = meanings[s]};
        r->samples[s].seconds = calloc((size_t)steps + WARMUP + 1, sizeof(double));
        if (!r->samples[s].seconds)
            return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d steps", steps);
    }
    return r->samples ? DDP_OK : ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d steps", steps);
}

/* Compute the figures that follow from others. On a GPU the CPU time of communication holds up no
 * step. */
static void conclude(ddp_bench_result *r, const ddp_reducer *reducer)
{
    const ddp_bench_config *c = r->config;
    const ddp_bucket_plan *plan = ddp_reducer_plan(reducer);
    ddp_batch batch = ddp_trainer_batch(c->trainer);
    double wire, least;

    for (int s = 0; s < SAMPLES; s++)
        ddp_sample_sort(&r->samples[s]);
    r->on_host = ddp_device_is_host(ddp_group_device(c->group));
    r->transport = ddp_group_transport(c->group);
    r->precision = c->bf16 ? "bf16" : r->on_host || c->fp32 ? "fp32" : "TF32";
    r->ranks = ddp_group_size(c->group);
    r->batch = batch.batch * batch.time_steps * c->batches;
    r->gradient_mb = (double)plan->count * 4 / 1e6;
    r->summed_mb = (double)ddp_reducer_floats(reducer) * 4 / 1e6;
    r->buckets = plan->bucket_count;
    r->step_s = ddp_sample_quantile(&r->samples[IN_STEP], 0.5);
    r->local_s = ddp_sample_quantile(&r->samples[IN_LOCAL], 0.5);
    least = r->on_host ? r->local_s + r->cpu_s : r->local_s;
    wire = ddp_sample_quantile(&r->samples[IN_WIRE], 0.5);
    r->limit_s = least > wire ? least : wire;
}

static ddp_status run(ddp_bench_result *r, struct bench *b, ddp_error *err)
{
    if (time_all(b, err) || (b->config->draw && draw_step(b, &r->hidden, err))
        || time_cpu(b, r, err))
        return err->code;
    conclude(r, b->reducer);
    return DDP_OK;
}

ddp_status ddp_bench_run(ddp_bench_result *out, const ddp_bench_config *config, ddp_error *err)
{
    struct bench b = {.config = config,
                      .device = ddp_group_device(config->group),
                      .reducer = ddp_trainer_reducer(config->trainer)};
    ddp_status st;

    *out = (ddp_bench_result){.config = config};
    if (open_samples(out, err)
        || ddp_step_clock_open(&b.clock, config->group, config->trainer, config->net, err))
        return err->code;
    b.samples = out->samples;
    ddp_network_freeze(config->net); /* random labels teach nothing, and weights must stay finite */
    ddp_synthetic_fill(config->net, 1, (uint64_t)ddp_group_rank(config->group) << 32);
    st = run(out, &b, err);
    ddp_step_clock_close(b.clock);
    return st;
}

void ddp_bench_release(ddp_bench_result *r)
{
    for (size_t s = 0; s < r->sample_count; s++)
        free(r->samples[s].seconds);
    free(r->samples);
    r->samples = NULL;
    r->sample_count = 0;
}
