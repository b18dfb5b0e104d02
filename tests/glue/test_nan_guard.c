/* ddp-test: quick */
/* The place where a step ceased to be finite is found, by rank, mini-batch and layer, and the step
 * is dropped on every rank. Ranks are threads, each with a network of its own. */
#include "trainer/trainer.h"

#include "../unit/ranks.h"
#include "timing/synthetic.h"

#include <darknet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "net.h"

enum { RANKS = 2, LAST_STEP = 4, BAD_STEP = 2, MINI_BATCHES = 2, CONNECTED_LAYER = 2 };

static const char cfg[] = "[net]\nbatch=8\nsubdivisions=4\nwidth=8\nheight=8\nchannels=3\n"
                          "learning_rate=0.01\nmomentum=0.9\nmax_batches=100\n"
                          "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\n"
                          "activation=leaky\n[avgpool]\n[connected]\noutput=5\n[softmax]\n";

/* Faults that spoil a mini-batch of the bad step. */
enum fault { NO_FAULT, INPUT, TRUTH, WEIGHTS_OF_ONE_RANK };

struct training {
    network *nets[RANKS];
    enum fault fault;
    int rank, mini_batch; /* where */
    int exact;
};

/* The finding of the rank whose thread this is. */
static _Thread_local ddp_not_finite told;
static _Thread_local int times_told;

static void dropped(const ddp_not_finite *what)
{
    told = *what;
    times_told++;
}

static ddp_trainer *attach(struct rank *me)
{
    const struct training *training = me->shared;
    ddp_trainer_config config = {
        .reducer = {.bucket_bytes = 1 << 20,
                    .first_bucket_bytes = 1 << 20,
                    .overlap = 1,
                    .find_unused = 1},
        .broadcast_buffers = 1,
        .exact = training->exact,
        .sync_every = 1,
        .guard = {.skip_most = 1, .skipped = dropped},
        .fail = net_fail_hook,
    };
    int batch = 8, subdivisions = 4;
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_ok(me, ddp_trainer_attach(t, training->nets[me->rank], &err), &err);
    return t;
}

static void spoil(const struct training *training, network *net)
{
    switch (training->fault) {
    case INPUT:
        net->input[7] = NAN;
        break;
    case TRUTH:
        net->truth[3] = INFINITY;
        break;
    case WEIGHTS_OF_ONE_RANK:
        net->layers[CONNECTED_LAYER].biases[1] = NAN;
        break;
        for (int i = 0; i < net->batch * net->truths; i++)
            net->truth[i] = 3e38F;
        break;
    default:
        break;
    }
}

static float step(struct rank *me, int number)
{
    const struct training *training = me->shared;
    network *net = training->nets[me->rank];
    float *bias = &net->layers[CONNECTED_LAYER].biases[1], kept = *bias, sum = 0;

    for (int m = 0; m < MINI_BATCHES; m++) {
        ddp_synthetic_fill(net, (uint64_t)number, (uint64_t)(4 * me->rank + 2 * m));
        if (number == BAD_STEP && me->rank == training->rank && m + 1 == training->mini_batch) {
            spoil(training, net);
            sum += train_network_datum(net);
            if (training->fault == WEIGHTS_OF_ONE_RANK)
                *bias = kept;
        } else {
            sum += train_network_datum(net);
        }
    }
    return train_mean_loss(net, sum);
}

/* The bad step alone leaves the parameters as they were. */
static void train(struct rank *me)
{
    const struct training *training = me->shared;
    network *net = training->nets[me->rank];
    ddp_trainer *t = attach(me);
    const layer *first = &net->layers[0];

    times_told = 0;
    for (int number = 1; number <= LAST_STEP; number++) {
        float weight, mean, now, loss;
        int bad = number == BAD_STEP && training->fault != NO_FAULT;

        net->hooks->settle(net->hooks->ctx, net);
        weight = first->weights[0];
        mean = first->rolling_mean[0];
        loss = step(me, number);
        net->hooks->settle(net->hooks->ctx, net);
        now = first->weights[0];
        if (!isfinite(now) || !isfinite(loss) || !isfinite(first->rolling_mean[0]))
            rank_wrong(me, "step %d: weight %g, loss %g", number, (double)now, (double)loss);
        if ((now == weight) != bad || (first->rolling_mean[0] == mean) != bad)
            rank_wrong(me, "step %d: weight %g was %g, mean %g was %g", number, (double)now,
                       (double)weight, (double)first->rolling_mean[0], (double)mean);
        if (times_told != (number >= BAD_STEP && training->fault != NO_FAULT))
            rank_wrong(me, "told %d times after step %d", times_told, number);
    }
    ddp_trainer_close(t);
}

static void expect_told(struct rank *me, ddp_origin origin, int layer)
{
    const struct training *training = me->shared;
    size_t sample =
        8 * (BAD_STEP - 1) + 4 * (size_t)training->rank + 2 * (size_t)(training->mini_batch - 1);

    if (told.step != BAD_STEP || told.rank != training->rank || told.ranks_alike != 1
        || told.mini_batch != training->mini_batch || told.skipped_in_a_row != 1)
        rank_wrong(me, "step %zu, rank %d, %d alike, mini-batch %d", told.step, told.rank,
                   told.ranks_alike, told.mini_batch);
    if (told.origin != origin || told.layer != layer)
        rank_wrong(me, "origin %d, layer %d", (int)told.origin, told.layer);
    if (told.sample != sample || told.samples != 2)
        rank_wrong(me, "samples %zu and %zu more, not %zu", told.sample, told.samples, sample);
}

static void train_and_check(struct rank *me)
{
    static const struct {
        ddp_origin origin;
        int layer;
    } want[] = {[INPUT] = {DDP_ORIGIN_INPUT, -1},
                [TRUTH] = {DDP_ORIGIN_TRUTH, -1},
                [WEIGHTS_OF_ONE_RANK] = {DDP_ORIGIN_OUTPUT, CONNECTED_LAYER}};
    const struct training *training = me->shared;

    train(me);
    if (training->fault != NO_FAULT)
        expect_told(me, want[training->fault].origin, want[training->fault].layer);
}

static void run(enum fault fault, int rank, int mini_batch, int exact)
{
    struct training training = {
        .fault = fault, .rank = rank, .mini_batch = mini_batch, .exact = exact};

    srand(1); /* first weights: the same in every training */
    for (int r = 0; r < RANKS; r++)
        training.nets[r] = net_parse(cfg);
    ranks_run(RANKS, train_and_check, &training);
    for (int r = 0; r < RANKS; r++)
        free_network(training.nets[r]);
}

static void without_a_fault_nobody_is_told(void **state)
{
    (void)state;
    run(NO_FAULT, 0, 1, 0);
}

static void it_is_found_on_any_rank_in_any_mini_batch(void **state)
{
    (void)state;
    for (int exact = 0; exact < 2; exact++)
        for (int rank = 0; rank < RANKS; rank++)
            for (int mini_batch = 1; mini_batch <= MINI_BATCHES; mini_batch++)
                for (int fault = INPUT; fault <= WEIGHTS_OF_ONE_RANK; fault++) {
                    /* The loss of softmax takes a truth as 0 or not 0, and only what the last
                     * mini-batch has is looked for where all losses are finite. */
                    if (fault == TRUTH && mini_batch < MINI_BATCHES)
                        continue;
                    run((enum fault)fault, rank, mini_batch, exact);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_fault_nobody_is_told),
        cmocka_unit_test(it_is_found_on_any_rank_in_any_mini_batch),
    };

    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
