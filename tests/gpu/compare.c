/* Does a GPU train a network to what the CPU makes of it?
 *
 *   gpu_compare CFG [key=value]...      one line; exit status 0, 1, or 77 without a GPU
 *
 * Both start from the same parameters and take 5 steps on the same random images, with the cfg's
 * momentum and decay, or its Adam. Compared, as Euclidean norms of one array's difference,
 * relative to the array (snapshot.h):
 *
 *   the loss of every step                                  1e-4
 *   gradients of the first step                             1e-4
 *   every layer's delta after its last mini-batch           1e-4
 *   parameters and BatchNorm's statistics after the last    1e-4
 *   the way they went, last minus first values              1e-3; way=NUMBER for another
 *   what the network then says of other images              as the way; not with smooth=1, whose
 *     statistics are of too few images to test with, nor of [lstm], whose state nothing resets
 *
 * tf32=1 lets convolutions use TF32, whose rounding needs limits 30 times as large; bf16=1 has the
 * GPU run in bf16 what can (bf16_wanted), with limits of 0.07, and 0.1 of the way.
 *
 * And on the GPU alone: a gradient does not change after the layer has announced it as final;
 * layers are updated from the last to the first; with cuda_deterministic a second run has the
 * same bits (not with again=0); no layer has memory on the host for what it computes.
 *
 * Rounding. A GPU adds up in another order than the CPU, so last bits differ. In a deep network
 * with leaky layers a last bit becomes a thousandth in one step, when an activation falls on the
 * other side of its kink. smooth=1 takes the kinks away: a leaky or relu layer becomes elu,
 * with smooth=2 mish.
 * [maxpool] keeps its own, where two inputs are equal but for the last bit; another seed then
 * helps. dry=1 shows what rounding does: without a GPU, the CPU from parameters off by last bits.
 * deterministic=1 takes cuDNN's algorithms unmeasured. updates=3 takes as many steps.
 *
 * What draws from rand() is silenced (parity/model.c). */
#include "../parity/model.h"
#include "snapshot.h"
#include "timing/hook_chain.h"
#include "timing/synthetic.h"

#include <cuda_runtime_api.h>
#include <darknet.h>
#include <layers/bf16/bf16.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, MOST_UPDATES = 5 };

static const double tolerance = 1e-4;

typedef struct options {
    model_options model;
    float way; /* tolerance of the way */
    int seed;  /* of images and first parameters */
    int again; /* 1: twice on the GPU with cuda_deterministic */
    int tf32;  /* 1: a GPU's convolutions may use TF32, and limits are 30 times as large */
    int bf16;  /* 1: layers that can run in bf16 on the GPU, and limits are those of its rounding */
    int deterministic, updates;
    int dry; /* the CPU in the GPU's place, with rounding errors: tries this test without one */
} options;

/* One training run. */
typedef struct run {
    ddp_hook_chain passing; /* to nobody */
    network *net;
    train_hooks hooks;
    int updates;
    double losses[MOST_UPDATES];
    snapshot first, last, first_statistics, statistics, gradients, deltas, announced;
    int update_began, updated; /* layers are updated from the last to the first */
    int bad_order;
    int step;
    int *was_announced; /* by layer, in this mini-batch */
    float *said;        /* outputs when testing, after the last step */
    int host_copy;      /* the first layer with values on the host that a GPU computes, or -1 */
} run;

/* ---- hooks: what the GPU announces, and in which order it updates ---- */

static void gradient_ready(void *ctx, int layer)
{
    run *r = ctx;

    if (r->was_announced[layer])
        return;
    r->was_announced[layer] = 1;
    if (r->step == 0)
        snapshot_read(&r->announced, layer);
}

static int update_layer(void *ctx, int layer)
{
    run *r = ctx;

    if (r->update_began && layer >= r->updated)
        r->bad_order = 1;
    r->update_began = 1;
    r->updated = layer;
    return 1;
}

/* ---- a run ---- */

static void train_step(run *r, int step, int seed)
{
    network *net = r->net;

    r->step = step;
    for (int m = 0; m < net->subdivisions; m++) {
        ddp_synthetic_fill(net, (uint64_t)seed,
                           (uint64_t)(step * net->subdivisions + m) * (uint64_t)net->batch);
        memset(r->was_announced, 0, (size_t)net->n * sizeof *r->was_announced);
        *net->seen += (size_t)net->batch;
        net->train = 1;
        forward_network(net);
        backward_network(net);
        r->losses[step] += (double)*net->cost;
    }
    if (step == 0) {
        snapshot_read(&r->gradients, -1);
        snapshot_read(&r->deltas, -1);
    }
    r->update_began = 0;
    update_network(net);
}

static int can_test(const network *net, const options *o)
{
    for (int i = 0; i < net->n; i++)
        if (net->layers[i].type == LSTM)
            return 0;
    return !o->model.smooth;
}

/* The outputs for images that it was not trained on. */
static float *test(network *net, const options *o)
{
    size_t n = (size_t)net->outputs * (size_t)net->batch;
    float *said = calloc(n, sizeof *said);

    if (!said)
        abort();
    ddp_synthetic_fill(net, (uint64_t)o->seed,
                       (uint64_t)(o->updates * net->subdivisions) * (uint64_t)net->batch);
    for (int b = 0; b < net->batch; b++)
        reset_network_state(net, b); /* what training leaves in a recurrent layer */
    memcpy(said, network_predict(net, net->input), n * sizeof *said);
    return said;
}

/* Off by some last bits, each upwards or downwards. */
static void nudge(snapshot *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->arrays[i].count; k++)
            s->arrays[i].copy[k] *= rand() % 2 ? 1 + 2.4e-7F : 1 - 2.4e-7F;
}

/* Return 1 if a layer has room on the host for what the GPU computes of a mini-batch: it must
 * not. */
static int has_host_copy(const layer *l)
{
    return l->output || l->delta || l->x || l->x_norm || l->activation_input || l->indexes
           || l->squared || l->norms || l->rand || l->loss || l->binary_input;
}

static int first_host_copy(const network *net)
{
    for (int i = 0; i < net->n; i++)
        if (has_host_copy(&net->layers[i]))
            return i;
    return -1;
}

/* Train from `first` where that is not NULL, else from the network's own first parameters. */
static void run_train(run *r, const options *o, int on_gpu, const snapshot *first, int nudged)
{
    model_options model = o->model;

    memset(r, 0, sizeof *r);
    r->updates = o->updates;
    model.on_gpu = on_gpu && !o->dry;
    bf16_wanted = o->bf16 && model.on_gpu;
    srand((unsigned)o->seed);
    r->net = model_open(&model);
    r->was_announced = calloc((size_t)r->net->n, sizeof *r->was_announced);
    snapshot_open(&r->first, r->net, PARAMETERS);
    snapshot_open(&r->last, r->net, PARAMETERS);
    snapshot_open(&r->first_statistics, r->net, STATISTICS);
    snapshot_open(&r->statistics, r->net, STATISTICS);
    snapshot_open(&r->gradients, r->net, GRADIENTS);
    snapshot_open(&r->announced, r->net, GRADIENTS);
    snapshot_open(&r->deltas, r->net, DELTAS);
    if (first)
        snapshot_write(&r->first, first);
    snapshot_read(&r->first, -1);
    if (nudged) {
        nudge(&r->first);
        snapshot_write(&r->first, &r->first);
    }
    snapshot_read(&r->first_statistics, -1);
    r->hooks = ddp_hook_chain_hooks;
    r->hooks.ctx = r;
    r->hooks.gradient_ready = gradient_ready;
    r->hooks.update_layer = update_layer;
    r->net->hooks = &r->hooks;
    for (int step = 0; step < o->updates; step++)
        train_step(r, step, o->seed);
    snapshot_read(&r->last, -1);
    snapshot_read(&r->statistics, -1);
    r->host_copy = model.on_gpu ? first_host_copy(r->net) : -1;
    if (can_test(r->net, o))
        r->said = test(r->net, o);
}

static void run_close(run *r)
{
    snapshot *all[] = {&r->first,      &r->last,      &r->first_statistics,
                       &r->statistics, &r->gradients, &r->announced,
                       &r->deltas};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        snapshot_close(all[i]);
    free_network(r->net);
    free(r->was_announced);
    free(r->said);
}

/* ---- comparison ---- */

enum { LOSS, GRADIENT, DELTA, PARAMETER, STATISTIC, WAY, TEST, FIGURES };

static const char *const names[FIGURES] = {"loss",       "gradients", "deltas", "parameters",
                                           "statistics", "way",       "test"};

typedef struct figures {
    double value[FIGURES];
    char where[FIGURES][64]; /* the worst array */
} figures;

static void set(figures *f, int figure, const snapshot *s, distance d)
{
    const snapshot_array *a = s->arrays ? &s->arrays[d.array] : NULL;

    f->value[figure] = d.worst;
    if (a && s->count)
        (void)snprintf(f->where[figure], sizeof f->where[figure], "%d %s %s%.0d", a->layer, a->kind,
                       a->name, a->part);
}

/* Return the distance of the outputs when testing. */
static double test_distance(const run *a, const run *b)
{
    size_t n = (size_t)b->net->outputs * (size_t)b->net->batch;
    double difference = 0, size = 0;

    for (size_t i = 0; b->said && i < n; i++) {
        double d = (double)a->said[i] - (double)b->said[i];

        difference += d * d;
        size += (double)b->said[i] * (double)b->said[i];
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

static figures compare(const run *a, const run *b)
{
    figures f = {0};

    for (int i = 0; i < a->updates; i++) {
        double d = fabs(a->losses[i] - b->losses[i]) / fabs(b->losses[i]);

        f.value[LOSS] = d <= f.value[LOSS] ? f.value[LOSS] : d;
    }
    set(&f, GRADIENT, &b->gradients, snapshot_distance(&a->gradients, &b->gradients, NULL, NULL));
    set(&f, DELTA, &b->deltas, snapshot_distance(&a->deltas, &b->deltas, NULL, NULL));
    set(&f, PARAMETER, &b->last, snapshot_distance(&a->last, &b->last, NULL, NULL));
    set(&f, STATISTIC, &b->statistics,
        snapshot_distance(&a->statistics, &b->statistics, &a->first_statistics,
                          &b->first_statistics));
    set(&f, WAY, &b->last, snapshot_distance(&a->last, &b->last, &a->first, &b->first));
    f.value[TEST] = test_distance(a, b);
    return f;
}

/* bf16 rounds each output and delta by up to 2^-9 of it, and steps grow from that. */
static double limit_of(const options *o, int figure)
{
    int along_the_way = figure == WAY || figure == TEST;

    if (o->bf16)
        return along_the_way ? 100 * (double)o->way : 700 * tolerance;
    return (along_the_way ? (double)o->way : tolerance) * (o->tf32 ? 30 : 1);
}

/* Prints the figures, each that is too large with its limit and place. Returns how many are. */
static int report(FILE *out, const options *o, const figures *f)
{
    int bad = 0;

    for (int i = 0; i < FIGURES; i++) {
        double limit = limit_of(o, i);

        (void)fprintf(out, " %s %.1e", names[i], f->value[i]);
        if (f->value[i] <= limit)
            continue;
        (void)fprintf(out, " ABOVE %.0e in layer %s", limit, f->where[i]);
        bad++;
    }
    return bad;
}

/* How far training has gone: a run that stands still would agree with anything. */
static int stands_still(const run *r)
{
    distance d = snapshot_distance(&r->last, &r->first, NULL, NULL);

    return !(d.worst > 1e-5);
}

/* Check what holds for a run by itself. Returns how many things do not. */
static int check_run(FILE *out, const run *r)
{
    int bad = 0;

    for (int i = 0; i < r->net->n; i++)
        if (!r->was_announced[i] && !r->net->layers[i].stopbackward)
            bad += fprintf(out, " LAYER %d NEVER ANNOUNCED", i) > 0;
    if (!snapshot_same(&r->announced, &r->gradients))
        bad += fprintf(out, " A GRADIENT CHANGED AFTER IT WAS ANNOUNCED") > 0;
    if (r->bad_order)
        bad += fprintf(out, " UPDATED IN ANOTHER ORDER") > 0;
    if (stands_still(r))
        bad += fprintf(out, " LEARNS NOTHING") > 0;
    if (r->host_copy >= 0)
        bad += fprintf(out, " LAYER %d HAS A COPY ON THE HOST", r->host_copy) > 0;
    return bad;
}

static int check_same_bits(FILE *out, const options *o, const snapshot *first)
{
    run one, two;
    int same;

    cuda_deterministic = 1;
    run_train(&one, o, 1, first, 0);
    run_train(&two, o, 1, first, 0);
    cuda_deterministic = o->deterministic;
    same = snapshot_same(&one.last, &two.last) && snapshot_same(&one.deltas, &two.deltas);
    run_close(&one);
    run_close(&two);
    return same ? 0 : fprintf(out, " OTHER BITS THE SECOND TIME") > 0;
}

/* ---- the program ---- */

static options parse(int argc, char **argv)
{
    options o = {.model.cfg = argc > 1 ? argv[1] : "",
                 .way = 1e-3F,
                 .seed = 20,
                 .again = 1,
                 .updates = MOST_UPDATES};
    const struct {
        const char *key;
        int *to;
    } rows[] = {
        {"width", &o.model.width},
        {"height", &o.model.height},
        {"batch", &o.model.batch},
        {"subdivisions", &o.model.subdivisions},
        {"crop", &o.model.crop},
        {"time_steps", &o.model.time_steps},
        {"smooth", &o.model.smooth},
        {"dry", &o.dry},
        {"tf32", &o.tf32},
        {"seed", &o.seed},
        {"again", &o.again},
        {"bf16", &o.bf16},
        {"deterministic", &o.deterministic},
        {"updates", &o.updates},
    };

    for (int i = 2; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        size_t length = value ? (size_t)(value - argv[i]) : 0, row = 0;

        while (row < sizeof rows / sizeof rows[0]
               && (strlen(rows[row].key) != length || strncmp(argv[i], rows[row].key, length) != 0))
            row++;
        if (row < sizeof rows / sizeof rows[0])
            *rows[row].to = (int)strtol(value + 1, NULL, 10);
        else if (length && strncmp(argv[i], "learning_rate", length) == 0)
            o.model.learning_rate = strtof(value + 1, NULL);
        else if (length && strncmp(argv[i], "way", length) == 0)
            o.way = strtof(value + 1, NULL);
        else
            argc = 0;
    }
    if (argc < 2 || o.updates < 1 || o.updates > MOST_UPDATES) {
        (void)fprintf(stderr, "usage: gpu_compare CFG [key=value]...\n");
        exit(2);
    }
    return o;
}

static int has_gpu(void)
{
    int count = 0;

    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/* Darknet's own lines go nowhere; results come on this. */
static FILE *quiet_stdout(void)
{
    FILE *terminal = fdopen(dup(STDOUT_FILENO), "w");

    if (!terminal || !freopen("/dev/null", "w", stdout))
        abort();
    return terminal;
}

int main(int argc, char **argv)
{
    options o = parse(argc, argv);
    FILE *out = quiet_stdout();
    figures f;
    run cpu, gpu;
    int bad;

    if (!o.dry && !has_gpu()) {
        (void)fprintf(out, "skipped: no GPU\n");
        return SKIPPED;
    }
    cuda_fp32_only = !o.tf32 && !o.bf16;
    cuda_deterministic = o.deterministic;
    run_train(&cpu, &o, 0, NULL, 0);
    run_train(&gpu, &o, 1, &cpu.first, o.dry);
    f = compare(&gpu, &cpu);
    bad = report(out, &o, &f) + check_run(out, &gpu);
    run_close(&gpu);
    if (o.again)
        bad += check_same_bits(out, &o, &cpu.first);
    run_close(&cpu);
    (void)fprintf(out, bad ? " FAILED\n" : " passed\n");
    return bad != 0;
}
