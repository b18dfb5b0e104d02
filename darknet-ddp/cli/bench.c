/* darknet ddp bench: steps on random data, in three kinds that take turns, so
 * that a machine which slows down slows all of them:
 *
 *   local    forward, backward and update, no communication
 *   wire     a step's communication and nothing else
 *   step     all of it, as training does it
 *
 * and the CPU time of communication, taken while a rank sleeps between polls
 * instead of spinning. */
#include "cli/bench.h"

#include "base/clock.h"
#include "cli/banner.h"
#include "cli/bench_step.h"
#include "cli/bench_trace.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "cli/session.h"
#include "glue/support.h"
#include "glue/synthetic.h"

#include <darknet.h>
#include <errno.h>
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
    network *net;
    ddp_trainer *trainer;
    ddp_reducer *reducer;
    ddp_step_clock *clock;
    int batches;        /* a step: -ddp_sync_every */
    FILE *out;          /* for the figures; Darknet's lines about each mini-batch go nowhere */
    FILE *json, *trace; /* NULL: none */
    ddp_sample samples[SAMPLES];
};

static double seconds_since(int64_t start_ns)
{
    return (double)(ddp_clock_ns() - start_ns) / 1e9;
}

static void add(struct bench *b, int sample, double seconds)
{
    ddp_sample *s = &b->samples[sample];

    s->seconds[s->count++] = seconds;
}

/* Every rank is here, with its GPU at rest. */
static void wait_for_all(void)
{
    ddp_error err;

    ddp_device_synchronize(ddp_group_device(ddp_session_group()));
    if (ddp_barrier(ddp_session_group(), &err))
        ddp_session_fail(&err);
}

static int on_host(void)
{
    return ddp_device_is_host(ddp_group_device(ddp_session_group()));
}

/* The longest of all ranks' times: no step of theirs can be shorter. */
static double slowest(double seconds)
{
    int size = ddp_group_size(ddp_session_group());
    double *all = calloc((size_t)size, sizeof *all), longest = seconds;
    ddp_error err;

    if (!all)
        (void)ddp_fail(&err, DDP_ERR_NOMEM, "no memory for %d times", size);
    if (!all || ddp_allgather(ddp_session_group(), &seconds, all, sizeof seconds, &err))
        ddp_session_fail(&err);
    for (int rank = 0; rank < size; rank++)
        if (all[rank] > longest)
            longest = all[rank];
    free(all);
    return longest;
}

static void run_step(struct bench *b)
{
    ddp_error err;

    if (ddp_step_run(b->clock, &err))
        ddp_session_fail(&err);
}

static ddp_step_times time_step(struct bench *b)
{
    ddp_step_times times;
    ddp_error err;

    run_step(b);
    if (ddp_step_read(b->clock, &times, &err))
        ddp_session_fail(&err);
    return times;
}

/* A step's communication: launch every bucket, wait for every layer, and for the GPU. */
static void communicate(struct bench *b, int sleep_between_polls)
{
    ddp_error err;
    int used;
    ddp_status st = DDP_OK;

    ddp_reducer_backward_begin(b->reducer, 1);
    for (int layer = b->net->n - 1; layer >= 0 && !st; layer--)
        st = ddp_reducer_layer_ready(b->reducer, layer, &err);
    if (!st)
        st = ddp_reducer_backward_end(b->reducer, &err);
    if (!st)
        st = ddp_reducer_launch_deferred(b->reducer, &err);
    while (sleep_between_polls && !st && !ddp_reducer_done(b->reducer)) {
        (void)usleep(POLL_US);
        st = ddp_reducer_progress(b->reducer, &err);
    }
    for (int layer = b->net->n - 1; layer >= 0 && !st; layer--)
        st = ddp_reducer_layer_wait(b->reducer, layer, &used, &err);
    if (!st)
        st = ddp_group_settle(ddp_session_group(), &err);
    if (st)
        ddp_session_fail(&err);
    ddp_device_synchronize(ddp_group_device(ddp_session_group()));
}

/* A GPU is handed a step while it ends the one before: the second of two in a row is one of many,
 * the first had an idle GPU before it. On a CPU both are the same. */
static void time_local(struct bench *b)
{
    const train_hooks *hooks = b->net->hooks;

    hooks->settle(hooks->ctx, b->net);
    b->net->hooks = NULL;
    wait_for_all();
    if (!on_host())
        run_step(b);
    add(b, IN_LOCAL, slowest(time_step(b).step));
    b->net->hooks = hooks;
}

static void time_wire(struct bench *b)
{
    int64_t start;

    wait_for_all();
    start = ddp_clock_ns();
    communicate(b, 0);
    add(b, IN_WIRE, seconds_since(start));
}

/* Of two steps in a row the second counts: it has the deferred gradients of the
 * first in it, and leaves its own to the next, as in training. */
static void time_whole(struct bench *b)
{
    ddp_step_times times;

    wait_for_all();
    run_step(b);
    times = time_step(b);
    add(b, IN_STEP, times.step);
    add(b, IN_FORWARD, times.forward);
    add(b, IN_BACKWARD, times.backward);
    add(b, IN_UPDATE, times.update);
    add(b, IN_EXPOSED, times.exposed);
}

static double cpu_of_communication(struct bench *b, int steps)
{
    int64_t start;

    b->net->hooks->settle(b->net->hooks->ctx, b->net);
    wait_for_all();
    start = ddp_clock_cpu_ns();
    for (int i = 0; i < steps; i++)
        communicate(b, 1);
    return (double)(ddp_clock_cpu_ns() - start) / 1e9 / steps;
}

/* Once more, to be drawn: the second of two steps, as above. */
static size_t draw_step(struct bench *b)
{
    ddp_step_times times;
    ddp_error err;

    wait_for_all();
    run_step(b);
    run_step(b);
    b->net->hooks->settle(b->net->hooks->ctx, b->net);
    if (ddp_step_read(b->clock, &times, &err))
        ddp_session_fail(&err);
    if (!b->trace)
        return 0;
    return ddp_bench_trace(b->trace, b->clock, b->reducer, ddp_group_size(ddp_session_group()) > 1);
}

static void bench_open(struct bench *b, const char *cfg, const ddp_options *options)
{
    ddp_network_shape shape;
    ddp_error err;

    b->net = ddp_command_load(&shape, cfg, options, ddp_session_gpus()->gpu);
    b->trainer = ddp_session_trainer();
    if (ddp_check_trainable(b->net, &err) || ddp_trainer_attach(b->trainer, b->net, &err))
        ddp_session_fail(&err);
    ddp_report_errors_only();
    b->net->learning_rate = 0; /* random labels teach nothing, and must not blow up */
    b->reducer = ddp_trainer_reducer(b->trainer);
    b->batches = options->sync_every;
    if (ddp_step_clock_open(&b->clock, ddp_session_group(), b->trainer, b->net,
                            ddp_trainer_batch(b->trainer).per_rank * b->batches, &err))
        ddp_session_fail(&err);
    for (int s = 0; s < SAMPLES; s++) {
        b->samples[s] = (ddp_sample){.name = names[s], .meaning = meanings[s]};
        b->samples[s].seconds = calloc((size_t)(options->steps + WARMUP + 1), sizeof(double));
        if (!b->samples[s].seconds) {
            (void)ddp_fail(&err, DDP_ERR_NOMEM, "no memory for %d steps", options->steps);
            ddp_session_fail(&err);
        }
    }
    ddp_synthetic_fill(b->net, 1, (uint64_t)ddp_group_rank(ddp_session_group()) << 32);
}

static void bench_close(struct bench *b)
{
    for (int s = 0; s < SAMPLES; s++)
        free(b->samples[s].seconds);
    ddp_step_clock_close(b->clock);
    free_network(b->net);
}

/* On a GPU the CPU's part in communication holds up nothing. */
static ddp_bench_result result_of(struct bench *b, const char *cfg, const ddp_options *options,
                                  double cpu_s)
{
    ddp_group *group = ddp_session_group();
    const ddp_plan *plan = ddp_reducer_plan(b->reducer);
    ddp_batch batch = ddp_trainer_batch(b->trainer);
    double local, wire, least;

    for (int s = 0; s < SAMPLES; s++)
        ddp_sample_sort(&b->samples[s]);
    local = ddp_sample_quantile(&b->samples[IN_LOCAL], 0.5);
    least = on_host() ? local + cpu_s : local;
    wire = ddp_sample_quantile(&b->samples[IN_WIRE], 0.5);
    return (ddp_bench_result){
        .cfg = cfg,
        .transport = ddp_group_transport(group),
        .devices = ddp_session_gpus()->names,
        .precision = on_host() || options->fp32 ? "fp32" : "TF32",
        .on_host = on_host(),
        .exact = options->exact,
        .deterministic = !on_host() && options->deterministic,
        .overlap = options->overlap,
        .ranks = ddp_group_size(group),
        .batch = batch.batch * batch.time_steps * b->batches,
        .width = b->net->w,
        .height = b->net->h,
        .gradient_mb = (double)plan->count * 4 / 1e6,
        .buckets = plan->bucket_count,
        .samples = b->samples,
        .sample_count = SAMPLES,
        .cpu_s = cpu_s,
        .limit_s = least > wire ? least : wire,
        .step_s = ddp_sample_quantile(&b->samples[IN_STEP], 0.5),
        .local_s = local,
    };
}

static void fail_to_write(const char *path)
{
    ddp_error err;

    (void)ddp_fail(&err, DDP_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    ddp_session_fail(&err);
}

/* Before the first step, so that a wrong path does not cost the figures. */
static FILE *open_file(const char *path)
{
    FILE *f = path ? fopen(path, "w") : NULL;

    if (path && !f)
        fail_to_write(path);
    return f;
}

static void close_file(FILE *f, const char *path)
{
    if (fclose(f))
        fail_to_write(path);
}

/* On rank 0. */
static void print_result(struct bench *b, const ddp_bench_result *result,
                         const ddp_options *options, size_t hidden)
{
    ddp_bench_print(b->out, result);
    if (b->json) {
        ddp_bench_print_json(b->json, result);
        close_file(b->json, options->json);
    }
    if (b->trace) {
        close_file(b->trace, options->trace);
        if (result->ranks > 1)
            (void)fprintf(b->out, "%s: %zu of %zu bucket%s %s summed when backward ended\n",
                          options->trace, hidden, result->buckets, ddp_plural(result->buckets),
                          result->buckets == 1 ? "was" : "were");
    }
    (void)fflush(b->out);
}

int ddp_command_bench(const char *cfg, const ddp_options *options)
{
    struct bench b = {0};
    ddp_bench_result result;
    size_t hidden = 0;

    ddp_session_open(options);
    if (ddp_group_rank(ddp_session_group()) == 0) {
        b.json = open_file(options->json);
        b.trace = open_file(options->trace);
    }
    b.out = ddp_report_take_output();
    bench_open(&b, cfg, options);
    for (int i = 0; i < WARMUP + options->steps; i++) {
        if (i == WARMUP)
            for (int s = 0; s < SAMPLES; s++)
                b.samples[s].count = 0;
        time_local(&b);
        time_wire(&b);
        time_whole(&b);
    }
    if (options->trace)
        hidden = draw_step(&b);
    result = result_of(&b, cfg, options, cpu_of_communication(&b, options->steps));
    if (ddp_group_rank(ddp_session_group()) == 0)
        print_result(&b, &result, options, hidden);
    bench_close(&b);
    return ddp_session_close();
}
