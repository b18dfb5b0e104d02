/* ddp-test: usual cost=100 */
/* -ddp_exact: one run at 1, 2, 4 and 8 ranks, in threads, ends with the same bits, whatever
 * buckets its gradients travel in. */
#include "trainer/trainer.h"

#include "../unit/ranks.h"
#include "glue/param_table.h"
#include "samples/sampler.h"
#include "timing/synthetic.h"

#include <darknet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exact_cfgs.h"
#include "net.h"

enum { STEP_COUNT = 12, MIB = 1 << 20 };

struct training {
    const char *cfg;
    int exact;
    int reads;   /* settle and predict between mini-batches */
    int resizes; /* the network, every 5 steps */
    int steps;
    size_t bucket_bytes, defer_bytes;
    int overlap;
    int priority; /* with backlogs that nobody measured */
    network *nets[RANKS_MAX];
    float loss[STEP_COUNT]; /* on rank 0 */
};

static network *new_net(const char *cfg)
{
    srand(1); /* first weights */
    return net_parse(cfg);
}

static ddp_trainer *attach(struct rank *me, network *net)
{
    const struct training *training = me->shared;
    ddp_trainer_config config = {
        .reducer = {.bucket_bytes = training->bucket_bytes,
                    .first_bucket_bytes = training->bucket_bytes,
                    .defer_bytes = training->defer_bytes,
                    .piece_bytes = training->priority ? 3000 : 0,
                    .priority = training->priority,
                    .overlap = training->overlap,
                    .find_unused = 1},
        .broadcast_buffers = 1,
        .sync_every = 1,
        .exact = training->exact,
        .fail = net_fail_hook,
    };
    int batch = BATCH, subdivisions = SUBDIVISIONS;
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_ok(me, ddp_trainer_attach(t, net, &err), &err);
    return t;
}

/* A forward pass that does not train finds the statistics that settling leaves. */
static void read_network(struct rank *me, network *net)
{
    float first = network_predict(net, net->input)[0];

    net->hooks->settle(net->hooks->ctx, net);
    if (network_predict(net, net->input)[0] != first)
        rank_wrong(me, "settling changes the prediction %.9g", (double)first);
}

/* One step, and what Darknet's train_network makes of its loss. */
static float step(struct rank *me, network *net, int number)
{
    const struct training *training = me->shared;
    int mini_batches = net->subdivisions / me->size;
    float sum = 0;

    for (int i = 0; i < mini_batches; i++) {
        ddp_synthetic_fill(net, (uint64_t)number,
                           (uint64_t)(net->batch * (me->rank * mini_batches + i)));
        sum += train_network_datum(net);
        if (training->reads)
            read_network(me, net);
    }
    return train_mean_loss(net, sum) / (float)(mini_batches * net->batch);
}

static void train(struct rank *me)
{
    struct training *training = me->shared;
    network *net = training->nets[me->rank];
    ddp_trainer *t = attach(me, net);

    for (int i = 0; i < training->steps; i++) {
        int size = 32 + i / 5 * 24 % 64;
        float loss;

        if (training->resizes && i % 5 == 0)
            resize_network(net, size, size);
        loss = step(me, net, i);
        if (training->priority)
            ddp_reducer_adapt_order(ddp_trainer_reducer(t), (size_t)i * 977 % 3000);
        if (me->rank == 0)
            training->loss[i] = loss;
    }
    ddp_trainer_close(t);
}

static void run(struct training *training, int ranks)
{
    static const train_plugin draws = {.is_first = 1, .draw_for = ddp_draw_for, .draw = ddp_draw};

    for (int r = 0; r < ranks; r++)
        training->nets[r] = new_net(training->cfg);
    ddp_sampler_seed(7);
    train_plugin_active = &draws;
    ranks_run(ranks, train, training);
    train_plugin_active = NULL;
}

static void free_nets(struct training *training, int ranks)
{
    for (int r = 0; r < ranks; r++)
        free_network(training->nets[r]);
}

/* A bias that BatchNorm takes out again is noise around zero. */
#define NOISE 1e-4

static int wrong_by(const float *got, const float *want, size_t count, double most)
{
    double difference = 0, size = 0;

    if (most == 0)
        return memcmp(got, want, count * sizeof *got) != 0;
    for (size_t i = 0; i < count; i++) {
        difference += ((double)got[i] - (double)want[i]) * ((double)got[i] - (double)want[i]);
        size += (double)want[i] * (double)want[i];
    }
    return !(sqrt(difference) <= most * (sqrt(size) + NOISE));
}

static int compare_params(const ddp_param_table *got, const ddp_param_table *want, double most,
                          const char *what)
{
    int wrong = 0;

    assert_int_equal(got->param_count, want->param_count);
    for (size_t i = 0; i < got->param_count; i++) {
        const ddp_param *p = &got->params[i];
        const float *expected = want->params[i].value;

        if (!wrong_by(p->value, expected, p->count, most))
            continue;
        print_error("%s: layer %d %s: %.9g, not %.9g\n", what, p->layer, p->part,
                    (double)p->value[0], (double)expected[0]);
        wrong++;
    }
    return wrong;
}

static int compare_statistics(const ddp_param_table *got, const ddp_param_table *want, double most,
                              const char *what)
{
    int wrong = 0;

    assert_int_equal(got->buffer_count, want->buffer_count);
    for (size_t i = 0; i < got->buffer_count; i++) {
        const ddp_buffer *b = &got->buffers[i];
        const float *expected = *want->buffers[i].slot;

        if (!wrong_by(*b->slot, expected, b->count, most))
            continue;
        print_error("%s: layer %d %s: %.9g, not %.9g\n", what, b->layer, b->part, (double)**b->slot,
                    (double)expected[0]);
        wrong++;
    }
    return wrong;
}

/* How many parameters and statistics of got are not want's, up to `most` of their length;
 * 0: to the bit. Several ranks without exact have rank 0's statistics, which saw less. */
static int compare_ranks(struct training *got, int ranks, struct training *want, double most)
{
    ddp_param_table a, b;
    ddp_error err;
    char what[128];
    int wrong = 0;

    (void)snprintf(what, sizeof what, "%d ranks, buckets of %zu bytes, overlap %d, deferred %zu",
                   ranks, got->bucket_bytes, got->overlap, got->defer_bytes);
    assert_int_equal(ddp_param_table_init(&b, want->nets[0], ddp_device_host(), &err), DDP_OK);
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(ddp_param_table_init(&a, got->nets[r], ddp_device_host(), &err), DDP_OK);
        wrong += compare_params(&a, &b, most, what);
        if (ranks == 1 || got->exact || most == 0)
            wrong += compare_statistics(&a, &b, most, what);
        ddp_param_table_release(&a);
    }
    ddp_param_table_release(&b);
    if (wrong_by(got->loss, want->loss, (size_t)got->steps, most)) {
        print_error("%s: the first loss is %.9g, not %.9g\n", what, (double)got->loss[0],
                    (double)want->loss[0]);
        wrong++;
    }
    return wrong;
}

/* Run `now` on so many ranks and compare its networks with those of `want`. */
static int differs(struct training now, int ranks, struct training *want, double most)
{
    int wrong;

    run(&now, ranks);
    wrong = compare_ranks(&now, ranks, want, most);
    free_nets(&now, ranks);
    return wrong;
}

static struct training plain(const char *cfg)
{
    return (struct training){
        .cfg = cfg, .exact = 1, .steps = STEP_COUNT, .overlap = 1, .bucket_bytes = MIB};
}

/* Rounding grows with every step. */
static struct training few_steps(const char *cfg)
{
    struct training t = plain(cfg);

    t.steps = 4;
    return t;
}

/* `now` at any number of ranks, and a plain run of the same cfg on one. */
static void expect_same_bits(struct training now)
{
    struct training want = plain(now.cfg);
    int wrong = 0;

    run(&want, 1);
    for (int ranks = 1; ranks <= SUBDIVISIONS; ranks *= 2)
        wrong += differs(now, ranks, &want, 0);
    free_nets(&want, 1);
    assert_int_equal(wrong, 0);
}

static void classifier_has_the_same_bits_on_1_2_4_and_8_ranks(void **state)
{
    (void)state;
    expect_same_bits(plain(classifier));
}

static void detector_has_the_same_bits_on_1_2_4_and_8_ranks(void **state)
{
    (void)state;
    expect_same_bits(plain(detector));
}

static void frozen_layers_have_the_same_bits_too(void **state)
{
    (void)state;
    expect_same_bits(plain(frozen));
}

static void recurrent_layers_have_the_same_bits_too(void **state)
{
    (void)state;
    expect_same_bits(plain(recurrent));
    expect_same_bits(plain(recurrent_convolution));
}

static void expect_same_bits_in_any_buckets(struct training now)
{
    static const size_t bucket_bytes[] = {MIB / 100, MIB, 25 * MIB};
    struct training want = now;
    int wrong = 0;

    run(&want, 1);
    for (int ranks = 1; ranks <= SUBDIVISIONS; ranks *= 2)
        for (int b = 0; b < 3; b++)
            for (int way = 0; way < 5; way++) {
                now.bucket_bytes = bucket_bytes[b];
                now.overlap = way & 1 || way == 4;
                now.defer_bytes = way & 2 ? MIB : 0;
                now.priority = way == 4;
                wrong += differs(now, ranks, &want, 0);
            }
    free_nets(&want, 1);
    assert_int_equal(wrong, 0);
}

static void buckets_overlap_deferral_and_priority_change_no_bit(void **state)
{
    (void)state;
    expect_same_bits_in_any_buckets(plain(classifier));
}

static void dropout_and_sizes_change_no_bit(void **state)
{
    struct training now = plain(random_classifier);

    (void)state;
    now.resizes = 1;
    expect_same_bits_in_any_buckets(now);
    now.cfg = random_detector;
    expect_same_bits_in_any_buckets(now);
}

static void reading_the_network_at_any_time_changes_no_bit(void **state)
{
    struct training now = plain(classifier);

    (void)state;
    now.reads = 1;
    now.defer_bytes = MIB;
    expect_same_bits(now);
}

/* Without exact one process's statistics are Darknet's own. */
static void exact_differs_from_darknet_by_rounding_alone(void **state)
{
    static const char *const cfgs[] = {classifier, detector, frozen, recurrent,
                                       recurrent_convolution};

    (void)state;
    for (size_t i = 0; i < sizeof cfgs / sizeof cfgs[0]; i++) {
        struct training want = few_steps(cfgs[i]), now = want;
        int wrong;

        want.exact = 0;
        run(&want, 1);
        wrong = differs(now, 1, &want, 1e-5);
        free_nets(&want, 1);
        assert_int_equal(wrong, 0);
    }
}

static void without_exact_ranks_differ_by_rounding_alone(void **state)
{
    struct training want = few_steps(classifier), now;
    int wrong = 0;

    (void)state;
    want.exact = 0;
    now = want;
    run(&want, 1);
    for (int ranks = 2; ranks <= SUBDIVISIONS; ranks *= 2)
        wrong += differs(now, ranks, &want, 1e-5);
    free_nets(&want, 1);
    assert_int_equal(wrong, 0);
}

static void without_exact_two_runs_have_the_same_bits(void **state)
{
    struct training want = plain(classifier);
    int wrong = 0;

    (void)state;
    want.exact = 0;
    for (int ranks = 1; ranks <= SUBDIVISIONS; ranks *= 2) {
        struct training first = want;

        run(&first, ranks);
        wrong += differs(want, ranks, &first, 0);
        free_nets(&first, ranks);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classifier_has_the_same_bits_on_1_2_4_and_8_ranks),
        cmocka_unit_test(detector_has_the_same_bits_on_1_2_4_and_8_ranks),
        cmocka_unit_test(frozen_layers_have_the_same_bits_too),
        cmocka_unit_test(recurrent_layers_have_the_same_bits_too),
        cmocka_unit_test(buckets_overlap_deferral_and_priority_change_no_bit),
        cmocka_unit_test(dropout_and_sizes_change_no_bit),
        cmocka_unit_test(reading_the_network_at_any_time_changes_no_bit),
        cmocka_unit_test(exact_differs_from_darknet_by_rounding_alone),
        cmocka_unit_test(without_exact_ranks_differ_by_rounding_alone),
        cmocka_unit_test(without_exact_two_runs_have_the_same_bits),
    };

    return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
