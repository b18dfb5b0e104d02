/* Does a network that N ranks train become what one process makes of it?
 *
 *   mpirun -np N parity CFG [key=value]...
 *
 * The ranks make 5 updates, with the cfg's momentum and decay. Then rank 0
 * trains a second network alone, from the same first parameters and on the same
 * mini-batches, and compares:
 *
 *   the summed gradients of the first update, each parameter's      1e-5 relative
 *   parameters after the last update, each                          1e-5 relative
 *   the way they went, last minus first values, each                1e-3 relative
 *   the loss of every update                                        1e-5 relative
 *   BatchNorm's running statistics after the last, each             1e-5 relative
 *   parameters and momentum of all ranks after every update         the same bits
 *
 * An array whose true value is about 0 has no relative error worth the name, so
 * its norm counts as at least 1e-3 of the largest of its layer.
 *
 * Order. Ranks add up mini-batches in another order than one process, so gradients
 * differ in their last bits. In a deep network with BatchNorm and leaky layers a
 * last bit grows ten thousand times in one update (an activation falls on the other
 * side of its kink), and after 5 nothing can be said at 1e-5 of two runs whose only
 * difference is that order. So the reference's gradients are taken in Darknet's own
 * order, and then it trains with each rank's mini-batches added up apart, and these
 * sums as ranks add them; what is left to differ should be nothing at all. With
 * order=darknet it trains in Darknet's own order, for networks that bear it; the way
 * may then differ by 2e-2, which a wrong momentum, decay or rate still exceeds.
 *
 * gpu=nccl and gpu=mpi do all of it on GPU 0, which the ranks share; ordered=0 lets NCCL add up
 * ranks in its own order, and then wants order=darknet.
 *
 * What draws from rand() is silenced in both networks: dropout drops nothing, crop
 * leaves the whole picture, detection's random=1 is off. That ranks draw what one
 * process draws is not tested here. BatchNorm's running statistics are compared where
 * ranks have the mini-batches of one process, not parts of them. */
#include "arrays.h"
#include "comm/collectives.h"
#include "comm/group_gpu.h"
#include "options.h"

#include "glue/trainable.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SKIPPED = 77, MAX_RANKS = 64, TIMEOUT_S = 300 };

static const double tolerance = 1e-5, floor_of_layer = 1e-3, least_move = 5e-5;

struct outcome {
    ddp_batch batch;
    uint64_t hash;
    float *first_values; /* before training; rank 0's */
    float *gradients, *values;
    float *first_statistics, *statistics;
    double *losses;
    int wrong;
};

static ddp_group *group;

static void fail_rank(const ddp_error *err) __attribute__((noreturn));

static void fail_rank(const ddp_error *err)
{
    (void)fprintf(stderr, "rank %d: %s\n", group ? ddp_group_rank(group) : -1, err->text);
    if (group)
        ddp_group_abort(group, 1);
    exit(1);
}

/* On GPU 0, with sums in the order of device/sum.h and algorithms that give the same bits each
 * time. Returns 0 if there is none. */
static int use_gpu(ddp_group *g, const parity_options *o)
{
    ddp_gpu_config config = {.shared = ddp_group_local_size(g) > 1,
                             .nccl = strcmp(o->gpu, "nccl") == 0,
                             .exact = o->ordered,
                             .fail = fail_rank};
    ddp_error err;

    if (ddp_device_count() == 0)
        return 0;
    cuda_fp32_only = 1;
    cuda_deterministic = 1;
    if (ddp_group_use_gpu(g, &config, &err))
        fail_rank(&err);
    return 1;
}

static ddp_trainer_config config_of(const parity_options *o)
{
    return (ddp_trainer_config){
        .reducer = {.bucket_bytes = (size_t)(o->bucket_mib * (1 << 20)),
                    .first_bucket_bytes = (size_t)(fmin(o->bucket_mib, 1) * (1 << 20)),
                    .defer_bytes = (size_t)(o->defer_mib * (1 << 20)),
                    .overlap = o->overlap,
                    .find_unused = 1,
                    .wire = o->wire},
        .batch_mode = o->rank_mode ? DDP_BATCH_RANK : DDP_BATCH_GLOBAL,
        .broadcast_buffers = 1,
        .sync_bn = o->sync_bn,
        .sync_every = o->sync_every,
        .seed = 1,
        .fail = fail_rank,
    };
}

/* The network as this run's ranks see it; the batch is cut first. */
static network *open_split(const parity_options *o, ddp_trainer *trainer, ddp_batch *batch)
{
    model_options model = o->model;
    ddp_error err;

    if (ddp_trainer_split(trainer, &model.batch, &model.subdivisions, &err))
        fail_rank(&err);
    *batch = ddp_trainer_batch(trainer);
    srand((unsigned)(1 + ddp_group_rank(group))); /* ranks must take rank 0's weights */
    return model_open(&model);
}

static struct outcome train_on_ranks(const parity_options *o)
{
    ddp_trainer_config config = config_of(o);
    struct outcome out = {0};
    ddp_trainer *trainer;
    ddp_error err;
    run r = {.ranks = ddp_group_size(group), .updates = o->updates, .group = group};

    if (ddp_trainer_open(&trainer, group, &config, &err))
        fail_rank(&err);
    r.device = ddp_group_device(group);
    r.net = open_split(o, trainer, &r.batch);
    if (ddp_check_trainable(r.net, &err))
        fail_rank(&err);
    if (ddp_trainer_attach(trainer, r.net, &err))
        fail_rank(&err);
    r.sync_every = o->sync_every;
    r.skip = o->skip;
    r.defers = o->defer_mib > 0;
    run_open(&r);
    if (ddp_group_rank(group) == 0)
        out.first_values = arrays_copy(&r.table, VALUES);
    out.first_statistics = statistics_copy(&r.table);
    if (r.table.first_trained != o->model.frozen) {
        (void)fprintf(stderr, "%d layers count as frozen\n", r.table.first_trained);
        r.wrong++;
    }
    run_train(&r);
    ddp_trainer_close(trainer);
    out.statistics = statistics_copy(&r.table);
    out.batch = r.batch;
    out.hash = r.hash;
    out.wrong = r.wrong;
    if (ddp_group_rank(group) == 0) {
        out.values = arrays_copy(&r.table, VALUES);
        out.gradients = r.gradients;
        out.losses = r.losses;
        r.gradients = NULL;
        r.losses = NULL;
    }
    run_close(&r);
    free_network(r.net);
    return out;
}

static void outcome_release(struct outcome *out)
{
    free(out->first_values);
    free(out->gradients);
    free(out->values);
    free(out->first_statistics);
    free(out->statistics);
    free(out->losses);
}

/* One process, and the cfg's own batch: a mini-batch that ranks had to cut
 * further stays whole. Returns the gradients of the first update. */
static float *train_alone(const parity_options *o, const struct outcome *ranks, int size,
                          ddp_device *device, run *r)
{
    model_options model = o->model;
    float *gradients;

    if (o->rank_mode) {
        model.batch *= size;
        model.subdivisions *= size;
    }
    *r = (run){.net = model_open(&model),
               .device = device,
               .batch = ranks->batch,
               .ranks = size,
               .updates = o->updates,
               .sync_every = o->sync_every,
               .as_ranks = !o->darknet_order,
               .wire = o->wire,
               .skip = o->skip};
    r->net->accumulate = o->sync_every;
    if (o->rank_mode)
        r->net->learning_rate *= (float)size;
    run_open(r);
    arrays_restore(&r->table, VALUES, ranks->first_values);
    gradients = run_probe(r);
    statistics_restore(&r->table, ranks->first_statistics);
    run_train(r);
    return gradients;
}

static int report(FILE *terminal, const run *r, const char *what, distance d, double limit)
{
    const ddp_param *param = &r->table.params[d.param];
    int bad = !(d.worst <= limit);

    (void)fprintf(terminal, "  %-10s %.2e worst, layer %d %s %s%s\n", what, d.worst, param->layer,
                  param->kind, param->part, bad ? "  <-- too far" : "");
    return bad;
}

static double worst_loss(const run *r, const struct outcome *ranks)
{
    double worst = 0;

    for (int i = 0; i < r->updates; i++)
        worst = fmax(worst, fabs(ranks->losses[i] - r->losses[i]) / fabs(r->losses[i]));
    return worst;
}

/* Ranks may have had to cut mini-batches further; with sync_bn they see these whole. */
static int compare_statistics(FILE *terminal, const run *r, const struct outcome *ranks,
                              const parity_options *o, double limit)
{
    float *statistics = statistics_copy(&r->table);
    size_t buffer;
    double worst = statistics_distance(&r->table, ranks->statistics, statistics, &buffer);
    int images = ranks->batch.images * (o->sync_bn ? r->ranks : 1);
    int compared = r->table.buffer_count > 0 && images == r->net->batch;
    int bad = compared && !(worst <= limit);

    free(statistics);
    if (compared)
        (void)fprintf(terminal, "  statistics %.2e worst, layer %d %s%s\n", worst,
                      r->table.buffers[buffer].layer, r->table.buffers[buffer].part,
                      bad ? "  <-- too far" : "");
    return bad;
}

/* The reference's first gradients are in Darknet's own order, and rounded nowhere: bf16's step is
 * 2^-7 of a number. */
static int compare(FILE *terminal, const run *r, const float *gradients, struct outcome *ranks,
                   double way_limit)
{
    const ddp_param_table *t = &r->table;
    float *values = arrays_copy(t, VALUES);
    double moved = arrays_change(t, values, ranks->first_values), loss = worst_loss(r, ranks);
    int bad;

    bad = report(terminal, r, "gradients",
                 arrays_distance(t, ranks->gradients, gradients, floor_of_layer),
                 r->wire ? 0x1p-6 : tolerance);
    bad += report(terminal, r, "parameters",
                  arrays_distance(t, ranks->values, values, floor_of_layer), tolerance);
    arrays_subtract(t, values, ranks->first_values);
    arrays_subtract(t, ranks->values, ranks->first_values);
    bad += report(terminal, r, "way", arrays_distance(t, ranks->values, values, floor_of_layer),
                  way_limit);
    (void)fprintf(terminal, "  loss       %.2e worst; %g at first, %g at last\n", loss,
                  r->losses[0], r->losses[r->updates - 1]);
    (void)fprintf(terminal, "  training has moved the parameters by %.2e of their norm\n", moved);
    free(values);
    return bad + !(loss <= tolerance) + !(moved >= least_move && moved < 1);
}

/* The sum's order is fixed, so buckets and overlap must not change a bit. */
static int other_settings_differ(const parity_options *o, uint64_t hash)
{
    static const struct {
        double bucket_mib, defer_mib;
    } settings[] = {{0.01, 0}, {1, 0}, {25, 0}, {0.01, 16}, {0.1, 2}};
    int count = 2 * (int)(sizeof settings / sizeof settings[0]), bad = 0;

    for (int i = 0; i < count; i++) {
        parity_options other = *o;
        struct outcome out;

        other.overlap = i % 2;
        other.bucket_mib = settings[i / 2].bucket_mib;
        other.defer_mib = settings[i / 2].defer_mib;
        out = train_on_ranks(&other);
        if (out.hash != hash)
            (void)fprintf(stderr, "buckets of %g MiB, %g deferred, overlap %d: other parameters\n",
                          other.bucket_mib, other.defer_mib, other.overlap);
        bad += out.wrong + (out.hash != hash);
        outcome_release(&out);
    }
    return bad;
}

static int total(int bad)
{
    uint64_t sum = (uint64_t)bad;
    ddp_error err;

    if (ddp_sum_counts(group, &sum, 1, &err))
        fail_rank(&err);
    return (int)sum;
}

/* Darknet cannot train this network on a CPU: -ddp must say so. */
static int refused(FILE *terminal, const model_options *model)
{
    network *net = model_open(model);
    ddp_error err;

    if (!ddp_check_trainable(net, &err)) {
        (void)fprintf(terminal, "%s: not refused\n", model->cfg);
        return 1;
    }
    (void)fprintf(terminal, "skipped, %s: %s\n", model->cfg, err.text);
    free_network(net);
    return SKIPPED;
}

/* Batch and subdivisions, where the command line leaves them to the cfg. */
static void complete(model_options *model)
{
    network *net;

    if (model->batch && model->subdivisions)
        return;
    net = model_open(model);
    model->batch = net->batch / net->time_steps * net->subdivisions;
    model->subdivisions = net->subdivisions;
    free_network(net);
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
    parity_options o = parity_parse(argc, argv);
    FILE *terminal = quiet_stdout();
    struct outcome ranks;
    float *gradients;
    int bad, rank, size;
    ddp_error err;
    run alone;

    if (o.refused)
        return refused(terminal, &o.model);
    if (ddp_group_open(&group, "mpi", &err))
        fail_rank(&err);
    ddp_group_set_timeout(group, TIMEOUT_S * INT64_C(1000000000));
    if (o.gpu && !use_gpu(group, &o)) {
        ddp_group_close(group);
        (void)fprintf(terminal, "skipped: no GPU\n");
        return SKIPPED;
    }
    complete(&o.model);
    ranks = train_on_ranks(&o);
    bad = ranks.wrong + (o.variants ? other_settings_differ(&o, ranks.hash) : 0);
    bad = total(bad);
    rank = ddp_group_rank(group);
    size = ddp_group_size(group);
    ddp_group_close(group); /* the others need not wait, which takes a core each */
    if (rank == 0) {
        if (ddp_group_open(&group, "solo", &err))
            fail_rank(&err);
        if (o.gpu)
            (void)use_gpu(group, &o);
        (void)fprintf(terminal, "%s on %d rank%s: batch %d, %d mini-batches of %d\n", o.model.cfg,
                      size, size == 1 ? "" : "s", ranks.batch.batch, ranks.batch.subdivisions,
                      ranks.batch.images);
        gradients = train_alone(&o, &ranks, size, ddp_group_device(group), &alone);
        bad += alone.wrong
               + compare(terminal, &alone, gradients, &ranks, o.darknet_order ? 2e-2 : 1e-3)
               + compare_statistics(terminal, &alone, &ranks, &o, tolerance);
        (void)fprintf(terminal, bad ? "FAILED\n" : "passed\n");
    }
    return rank == 0 && bad;
}
