/* ddp-test: quick */
/* The trainer's promises that no command of Darknet relies on: ranks are threads, each
 * with a network of its own. */
#include "trainer/trainer.h"

#include "../unit/ranks.h"
#include "comm/collectives.h"
#include "timing/hook_chain.h"
#include "timing/synthetic.h"

#include <darknet.h>
#include <math.h>
#include <network.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "net.h"

enum { RANKS = 2, FILTERS = 4, CONNECTED_LAYER = 2, WEIGHTS = 4 * 5 };

static const char cfg[] = "[net]\nbatch=8\nsubdivisions=4\nwidth=8\nheight=8\nchannels=3\n"
                          "learning_rate=0.01\nmax_batches=100\n"
                          "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\n"
                          "activation=leaky\n[avgpool]\n[connected]\noutput=5\n[softmax]\n";

/* One mini-batch a rank, and gradients of some KiB. */
static const char wide[] =
    "[net]\nbatch=8\nsubdivisions=2\nwidth=8\nheight=8\nchannels=3\n"
    "learning_rate=0.01\nmax_batches=100\n"
    "[convolutional]\nbatch_normalize=1\nfilters=4\nsize=3\nstride=1\npad=1\n"
    "activation=leaky\n[avgpool]\n[connected]\noutput=5000\n[softmax]\n";

/* The training of one test: what its ranks train, and how. */
struct training {
    network *nets[RANKS];
    volatile sig_atomic_t asked[RANKS][DDP_REQUESTS];
    size_t defer_bytes;
    int priority;
    int subdivisions; /* 0: 4 */
    int exact;
    ddp_batch_mode mode;
};

static network *net_of(const struct rank *me)
{
    return ((struct training *)me->shared)->nets[me->rank];
}

static ddp_trainer *attach(struct rank *me)
{
    struct training *training = me->shared;
    ddp_trainer_config config = {
        .reducer = {.bucket_bytes = 1,
                    .first_bucket_bytes = 1,
                    .defer_bytes = training->defer_bytes,
                    .priority = training->priority,
                    .overlap = 1,
                    .find_unused = 1},
        .broadcast_buffers = 1,
        .exact = training->exact,
        .batch_mode = training->mode,
        .sync_every = 1,
        .asked = training->asked[me->rank],
        .fail = net_fail_hook,
    };
    int batch = 8, subdivisions = training->subdivisions ? training->subdivisions : 4;
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_ok(me, ddp_trainer_attach(t, net_of(me), &err), &err);
    return t;
}

/* One step; returns the losses of this rank's mini-batches. */
static float step(struct rank *me, uint64_t number)
{
    network *net = net_of(me);
    float sum = 0;

    for (int m = 0; m < net->subdivisions / me->size; m++) {
        ddp_synthetic_fill(net, number, (uint64_t)(8 * me->rank + 2 * m));
        sum += train_network_datum(net);
    }
    return sum;
}

static void ask_late(struct rank *me)
{
    ddp_trainer *t = attach(me);
    float own = 0, all[RANKS], mean;
    ddp_error err;

    for (uint64_t i = 0; i < 3; i++)
        own += step(me, i);
    mean = train_mean_loss(net_of(me), own);
    rank_expect_ok(me, ddp_allgather(me->group, &own, all, sizeof own, &err), &err);
    if (!(fabsf(mean - (all[0] + all[1]) / 2) <= 1e-5F * mean))
        rank_wrong(me, "the mean of %g and %g is not %g", (double)all[0], (double)all[1],
                   (double)mean);
    if (all[0] == all[1])
        rank_wrong(me, "ranks had the same loss, %g", (double)own);
    ddp_trainer_close(t);
}

static void settle_and_read(struct rank *me)
{
    network *net = net_of(me);
    ddp_trainer *t = attach(me);
    float all[RANKS][FILTERS];
    ddp_error err;

    (void)step(me, 1);
    net->hooks->settle(net->hooks->ctx, net);
    rank_expect_ok(
        me, ddp_allgather(me->group, net->layers[0].rolling_mean, all, sizeof all[0], &err), &err);
    for (int i = 0; i < FILTERS; i++)
        if (all[0][i] != all[1][i] || all[0][i] == 0)
            rank_wrong(me, "rolling mean %d is %g on rank 0 and %g on rank 1", i, (double)all[0][i],
                       (double)all[1][i]);
    ddp_trainer_close(t);
}

/* In an exact run BatchNorm's statistics are put together when all ranks' parts have arrived:
 * whoever asks the network between two steps wants what it has when all is settled. */
static void ask_between_steps(struct rank *me)
{
    enum { INPUTS = 8 * 8 * 3, OUTPUTS = 5 };
    network *net = net_of(me);
    ddp_trainer *t = attach(me);
    float input[2 * INPUTS], said[OUTPUTS];

    for (int i = 0; i < 2 * INPUTS; i++)
        input[i] = (float)(i % 7) / 7;
    for (uint64_t i = 0; i < 3; i++)
        (void)step(me, i);
    memcpy(said, network_predict(net, input), sizeof said);
    net->hooks->settle(net->hooks->ctx, net);
    if (memcmp(said, network_predict(net, input), sizeof said) != 0)
        rank_wrong(me, "what it says is not what it says when all is settled: %g", (double)said[0]);
    ddp_trainer_close(t);
}

/* In the order of a step: one before it, one in it, one when it has ended. */
static void request(struct rank *me)
{
    struct training *training = me->shared;
    ddp_trainer *t = attach(me);
    ddp_requests got[3];

    if (me->rank == 1)
        training->asked[1][DDP_REQUEST_STOP] = 1;
    for (uint64_t i = 0; i < 3; i++) {
        float own = step(me, i);

        if (i == 0 && me->rank == 0)
            training->asked[0][DDP_REQUEST_SAVE] = 1;
        (void)train_mean_loss(net_of(me), own);
        got[i] = ddp_trainer_requested(t);
    }
    for (int i = 0; i < 3; i++)
        if (got[i].stop != (i == 0) || got[i].save != (i == 1))
            rank_wrong(me, "after step %d stop is %d and save %d", i, got[i].stop, got[i].save);
    ddp_trainer_close(t);
}

static void train(struct rank *me)
{
    size_t defer_bytes = ((struct training *)me->shared)->defer_bytes;
    ddp_trainer *t = attach(me);

    if (ddp_reducer_is_deferred(ddp_trainer_reducer(t), CONNECTED_LAYER) != (defer_bytes > 0))
        rank_wrong(me, "deferring %zu bytes does not", defer_bytes);
    for (uint64_t i = 0; i < 4; i++)
        (void)step(me, i);
    ddp_trainer_close(t);
}

struct waiting {
    ddp_hook_chain passing; /* to the trainer */
    struct rank *me;
};

/* Rank 0 ends its backward pass before rank 1 begins to train: nothing can have landed. */
static void end_and_meet(void *ctx, network *net)
{
    struct waiting *w = ctx;

    ddp_hook_chain_hooks.backward_end(ctx, net);
    rank_meet(w->me);
}

static void step_apart(struct rank *me)
{
    network *net = net_of(me);
    struct waiting waiting = {.passing = {net->hooks}, .me = me};
    const train_hooks *trainers = net->hooks;
    train_hooks hooks = ddp_hook_chain_hooks;

    hooks.ctx = &waiting;
    hooks.backward_end = end_and_meet;
    if (me->rank == 0)
        net->hooks = &hooks;
    else
        rank_meet(me);
    (void)train_mean_loss(net, step(me, 0));
    net->hooks = trainers;
}

static void fall_behind(struct rank *me)
{
    ddp_trainer *t = attach(me);
    const ddp_reducer *r = ddp_trainer_reducer(t);

    step_apart(me);
    if (ddp_reducer_is_deferred(r, 0))
        rank_wrong(me, "layer 0 is late in the first step");
    (void)step(me, 1);
    if (!ddp_reducer_is_deferred(r, 0))
        rank_wrong(me, "layer 0 is not late, though nothing had landed on rank 0");
    ddp_trainer_close(t);
}

static void attach_twice(struct rank *me)
{
    float before = net_of(me)->learning_rate;

    for (int i = 0; i < 2; i++) {
        ddp_trainer_close(attach(me));
        if (net_of(me)->learning_rate != before * RANKS)
            rank_wrong(me, "a rate of %g, not of %g times %d", (double)net_of(me)->learning_rate,
                       (double)before, RANKS);
    }
}

static void open_nets(struct training *training)
{
    srand(1); /* first weights: the same in every training */
    for (int r = 0; r < RANKS; r++)
        training->nets[r] = net_parse(cfg);
}

static void open_wide_nets(struct training *training)
{
    srand(1);
    for (int r = 0; r < RANKS; r++)
        training->nets[r] = net_parse(wide);
}

static void free_nets(struct training *training)
{
    for (int r = 0; r < RANKS; r++)
        free_network(training->nets[r]);
}

static void run(void (*body)(struct rank *me))
{
    struct training training = {.defer_bytes = 0};

    open_nets(&training);
    ranks_run(RANKS, body, &training);
    free_nets(&training);
}

static void loss_is_the_mean_of_all_steps_since_it_was_asked(void **state)
{
    (void)state;
    run(ask_late);
}

static void rate_is_multiplied_once(void **state)
{
    struct training training = {.mode = DDP_BATCH_RANK};

    (void)state;
    open_nets(&training);
    ranks_run(RANKS, attach_twice, &training);
    free_nets(&training);
}

static void settle_leaves_the_same_statistics_on_all_ranks(void **state)
{
    (void)state;
    run(settle_and_read);
}

static void a_network_that_is_asked_between_steps_has_settled(void **state)
{
    struct training training = {.exact = 1};

    (void)state;
    open_nets(&training);
    ranks_run(RANKS, ask_between_steps, &training);
    free_nets(&training);
}

static void request_of_one_rank_is_known_to_all_after_the_same_step(void **state)
{
    (void)state;
    run(request);
}

static void deferred_updates_give_the_same_bits_on_all_ranks(void **state)
{
    struct training at_once = {.defer_bytes = 0}, later = {.defer_bytes = 1 << 20};

    (void)state;
    open_nets(&at_once);
    ranks_run(RANKS, train, &at_once);
    open_nets(&later);
    ranks_run(RANKS, train, &later);
    for (int r = 0; r < RANKS; r++) {
        const layer *l = &later.nets[r]->layers[CONNECTED_LAYER];
        const layer *want = &at_once.nets[0]->layers[CONNECTED_LAYER];

        assert_int_equal(l->inputs * l->outputs, WEIGHTS);
        assert_memory_equal(l->weights, want->weights, WEIGHTS * sizeof(float));
        assert_memory_equal(l->weight_momentum, want->weight_momentum, WEIGHTS * sizeof(float));
    }
    free_nets(&at_once);
    free_nets(&later);
}

/* What rank 0 tells of its backlog, both plan by. */
static void ranks_plan_the_next_order_by_what_had_not_landed(void **state)
{
    struct training training = {.priority = 1, .subdivisions = 2};

    (void)state;
    open_wide_nets(&training);
    ranks_run(RANKS, fall_behind, &training);
    free_nets(&training);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_is_the_mean_of_all_steps_since_it_was_asked),
        cmocka_unit_test(rate_is_multiplied_once),
        cmocka_unit_test(settle_leaves_the_same_statistics_on_all_ranks),
        cmocka_unit_test(a_network_that_is_asked_between_steps_has_settled),
        cmocka_unit_test(request_of_one_rank_is_known_to_all_after_the_same_step),
        cmocka_unit_test(deferred_updates_give_the_same_bits_on_all_ranks),
        cmocka_unit_test(ranks_plan_the_next_order_by_what_had_not_landed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
