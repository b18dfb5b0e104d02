/* ddp-test: quick */
/* Tests of layer drop against its definition. In each step Darknet alone trains a second network.
 * Its cfg lacks the blocks that the step drops, and multiplies what its other blocks add by 1/p, as
 * draw.h says. Ranks are threads, each with its network. Also tests which layers are blocks. */
#include "trainer/trainer.h"

#include "algorithms/layer_drop/draw.h"
#include "glue/param_table.h"
#include "glue/residual_blocks.h"
#include "options/options.h"
#include "timing/synthetic.h"
#include "unit/ranks.h"

#include <darknet.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "glue/net.h"

enum { MOST_RANKS = 4, IMAGES = 2, STEP_COUNT = 24, BLOCKS = 3, SEED = 5, LAYERS = 12 };
#define MOST .8

#define CONV(n, size)                                                                              \
    "[convolutional]\nbatch_normalize=1\nfilters=" #n "\nsize=" #size                              \
    "\nstride=1\npad=1\nactivation=leaky\n"

/* Layers, and the block that each is in: 1, 2, 3; shortcuts have the block's number below 0. */
static const struct {
    const char *text;
    int block;
} layers[LAYERS] = {
    {CONV(4, 3), 0},
    {CONV(2, 1), 1},
    {CONV(4, 3), 1},
    {"[shortcut]\nfrom=-3\nactivation=linear\n", -1},
    {CONV(3, 1), 2},
    {CONV(4, 1), 2},
    {"[shortcut]\nfrom=-3\nactivation=linear\n", -2},
    {CONV(4, 3), 3},
    {"[shortcut]\nfrom=-2\nactivation=leaky\n", -3},
    {"[avgpool]\n", 0},
    {"[connected]\noutput=5\n", 0},
    {"[softmax]\n", 0},
};

struct run {
    network *nets[MOST_RANKS];
    const char *schedule; /* lines of [net] */
    int batch;            /* of a step */
    int exact;
    int sync_every;
    int steps;
    size_t bucket_bytes, defer_bytes;
    int find_unused;
    int on_nan;
};

static const struct run plain = {.schedule = "",
                                 .batch = 8,
                                 .sync_every = 1,
                                 .steps = STEP_COUNT,
                                 .bucket_bytes = 1,
                                 .find_unused = 1};

static char *head(const struct run *run, int subdivisions, char *at)
{
    return at
           + sprintf(at,
                     "[net]\nbatch=%d\nsubdivisions=%d\nwidth=8\nheight=8\nchannels=3\n"
                     "learning_rate=0.05\nmomentum=0.9\ndecay=0.01\nmax_batches=%d\n%s",
                     run->batch, subdivisions, STEP_COUNT, run->schedule);
}

/* The cfg of a step that leaves blocks out (dropped[b]: block b + 1) and multiplies what others
 * add; of_whole[i] is the layer of the whole network that layer i of it is. */
static network *parse(const struct run *run, const int *dropped, const float *scale, int *of_whole)
{
    char text[8192], *at = head(run, run->batch / IMAGES, text);
    int n = 0;

    for (int i = 0; i < LAYERS; i++) {
        int block = abs(layers[i].block) - 1, is_shortcut = layers[i].block < 0;

        if (dropped && block >= 0 && dropped[block]) {
            if (!is_shortcut || strstr(layers[i].text, "linear"))
                continue;
            at += sprintf(at, "[activation]\nactivation=leaky\n");
        } else {
            at += sprintf(at, "%s", layers[i].text);
            if (dropped && is_shortcut)
                at += sprintf(at, "alpha=%.9g\n", (double)scale[block]);
        }
        if (of_whole)
            of_whole[n++] = i;
    }
    srand(1); /* the same first weights in each */
    return net_parse(text);
}

/* ---- the definition ---- */

/* Copy each layer's parameters, optimizer state and statistics from one network to the other. */
static void copy(network *to, const int *to_whole, network *from, const int *from_whole)
{
    ddp_param_table a, b;
    ddp_error err;

    assert_int_equal(ddp_param_table_init(&a, to, ddp_device_host(), &err), DDP_OK);
    assert_int_equal(ddp_param_table_init(&b, from, ddp_device_host(), &err), DDP_OK);
    for (size_t i = 0; i < a.param_count; i++)
        for (size_t j = 0; j < b.param_count; j++) {
            ddp_param *x = &a.params[i], *y = &b.params[j];

            if (to_whole[x->layer] != from_whole[y->layer] || strcmp(x->part, y->part) != 0)
                continue;
            memcpy(x->value, y->value, x->count * sizeof(float));
            for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && x->optimizer.buffer[k]; k++)
                memcpy(x->optimizer.buffer[k], y->optimizer.buffer[k], x->count * sizeof(float));
        }
    for (size_t i = 0; i < a.buffer_count; i++)
        for (size_t j = 0; j < b.buffer_count; j++)
            if (to_whole[a.buffers[i].layer] == from_whole[b.buffers[j].layer]
                && strcmp(a.buffers[i].part, b.buffers[j].part) == 0)
                memcpy(*a.buffers[i].slot, *b.buffers[j].slot, a.buffers[i].count * sizeof(float));
    ddp_param_table_release(&a);
    ddp_param_table_release(&b);
    *to->seen = *from->seen;
    *to->t = *from->t;
}

static network *define(const struct run *run, size_t *left_out_in_all)
{
    ddp_layer_drop draw = {.seed = SEED, .most = MOST, .steps = STEP_COUNT, .blocks = BLOCKS};
    int itself[LAYERS], of_whole[LAYERS];
    network *whole = parse(run, NULL, NULL, itself);

    *left_out_in_all = 0;
    for (size_t step = 0; step < (size_t)run->steps; step++) {
        int dropped[BLOCKS];
        float scale[BLOCKS];
        network *part;

        for (int b = 0; b < BLOCKS; b++) {
            dropped[b] = ddp_layer_drop_drops_block(&draw, b, step);
            scale[b] = (float)(1 / ddp_layer_drop_keep_probability(&draw, b, step));
            *left_out_in_all += (size_t)dropped[b];
        }
        part = parse(run, dropped, scale, of_whole);
        copy(part, of_whole, whole, itself);
        for (int i = 0; i < run->batch; i += IMAGES) {
            ddp_synthetic_fill(part, step, (uint64_t)i);
            (void)train_network_datum(part);
        }
        copy(whole, itself, part, of_whole);
        free_network(part);
    }
    return whole;
}

/* ---- ranks ---- */

static const ddp_options options = {.layer_drop = MOST};

static ddp_trainer_config config_of(const struct run *run)
{
    return (ddp_trainer_config){
        .reducer = {.bucket_bytes = run->bucket_bytes,
                    .first_bucket_bytes = run->bucket_bytes,
                    .defer_bytes = run->on_nan ? 0 : run->defer_bytes,
                    .overlap = 1,
                    .find_unused = run->find_unused},
        .broadcast_buffers = 1,
        .exact = run->exact,
        .sync_every = run->sync_every,
        .options = &options,
        .verify_every = 1,
        .guard = {.skip_most = run->on_nan},
        .fail = net_fail_hook,
    };
}

static void train(struct rank *me)
{
    struct run *run = me->shared;
    network *net = run->nets[me->rank];
    ddp_trainer_config config = config_of(run);
    int batch = run->batch, subdivisions = run->batch / IMAGES, share = run->batch / me->size;
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    ddp_trainer_set_seed(t, SEED);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_ok(me, ddp_trainer_attach(t, net, &err), &err);
    for (int step = 0; step < run->steps; step++) {
        for (int i = 0; i < share; i += IMAGES) {
            ddp_synthetic_fill(net, (uint64_t)step, (uint64_t)(me->rank * share + i));
            (void)train_network_datum(net);
        }
        (void)train_mean_loss(net, 1);
    }
    ddp_trainer_close(t);
}

static void run_ranks(struct run *run, int ranks)
{
    for (int r = 0; r < ranks; r++)
        run->nets[r] = parse(run, NULL, NULL, NULL);
    ranks_run(ranks, train, run);
}

static void free_all(struct run *run, int ranks)
{
    for (int r = 0; r < ranks; r++)
        free_network(run->nets[r]);
}

/* ---- both ---- */

static void expect_array(const float *got, const float *want, size_t count, double tolerance,
                         int layer, const char *part)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance))
            fail_msg("layer %d %s [%zu] is %.9g, not %.9g", layer, part, i, (double)got[i],
                     (double)want[i]);
}

static void expect_alike(network *got_net, network *want_net, double tolerance, int statistics)
{
    ddp_param_table got, want;
    ddp_error err;

    assert_int_equal(ddp_param_table_init(&got, got_net, ddp_device_host(), &err), DDP_OK);
    assert_int_equal(ddp_param_table_init(&want, want_net, ddp_device_host(), &err), DDP_OK);
    for (size_t p = 0; p < want.param_count; p++) {
        ddp_param *x = &got.params[p], *y = &want.params[p];

        expect_array(x->value, y->value, y->count, tolerance, y->layer, y->part);
        for (int k = 0; k < DDP_OPTIMIZER_BUFFERS && y->optimizer.buffer[k]; k++)
            expect_array(x->optimizer.buffer[k], y->optimizer.buffer[k], y->count, 100 * tolerance,
                         y->layer, y->optimizer.name[k]);
    }
    for (size_t b = 0; statistics && b < want.buffer_count; b++)
        expect_array(*got.buffers[b].slot, *want.buffers[b].slot, want.buffers[b].count, tolerance,
                     want.buffers[b].layer, want.buffers[b].part);
    ddp_param_table_release(&got);
    ddp_param_table_release(&want);
}

static void compare_with_definition(struct run run, int ranks, double tolerance)
{
    size_t dropped;
    network *defined = define(&run, &dropped);

    assert_in_range(dropped, STEP_COUNT / 2, BLOCKS * STEP_COUNT);
    run_ranks(&run, ranks);
    for (int r = 0; r < ranks; r++) {
        expect_alike(run.nets[r], defined, tolerance, ranks == 1 || run.exact);
        expect_alike(run.nets[r], run.nets[0], 0, 1);
    }
    free_all(&run, ranks);
    free_network(defined);
}

/* Momentum and statistics of what is left out stay as they are: all of it is compared. */
static void one_rank_comes_to_the_bits_of_the_definition(void **state)
{
    struct run run = plain;

    (void)state;
    compare_with_definition(run, 1, 0);
    run.find_unused = 0;
    run.defer_bytes = 1 << 20;
    compare_with_definition(run, 1, 0);
    run.on_nan = 1;
    compare_with_definition(run, 1, 0);
}

static void with_adam_too(void **state)
{
    struct run run = plain;

    (void)state;
    run.schedule = "adam=1\n";
    compare_with_definition(run, 1, 0);
}

/* Sums over ranks round otherwise. */
static void ranks_come_to_what_the_definition_comes_to(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++)
        for (int kind = 0; kind < 3; kind++) {
            struct run run = plain;

            run.batch = ranks == 3 ? 6 : 8;
            run.defer_bytes = kind > 0 ? 1 << 20 : 0;
            run.bucket_bytes = kind > 1 ? 1 << 20 : 1;
            run.find_unused = kind == 0;
            run.on_nan = kind == 2;
            compare_with_definition(run, ranks, 1e-4);
        }
}

static void exact_ranks_come_to_the_same_bits_and_to_the_definition(void **state)
{
    struct run one = plain;

    (void)state;
    one.exact = 1;
    compare_with_definition(one, 1, 1e-4);
    run_ranks(&one, 1);
    for (int ranks = 2; ranks <= MOST_RANKS; ranks *= 2) {
        struct run run = one;

        run.defer_bytes = 1 << 20;
        compare_with_definition(run, ranks, 1e-4);
        run_ranks(&run, ranks);
        expect_alike(run.nets[ranks - 1], one.nets[0], 0, 1);
        free_all(&run, ranks);
    }
    free_all(&one, 1);
}

/* A layer that one of the steps of an update left out and another did not is sent and updated. */
static void several_steps_of_an_update_may_leave_out_other_blocks(void **state)
{
    struct run one = plain, run = plain;

    (void)state;
    one.sync_every = run.sync_every = 2;
    run_ranks(&one, 1);
    run_ranks(&run, 4);
    for (int r = 0; r < 4; r++)
        expect_alike(run.nets[r], one.nets[0], 1e-4, 0);
    free_all(&run, 4);
    free_all(&one, 1);
}

/* A pass that does not train has all blocks, and scales nothing. */
static void a_network_that_is_tested_is_whole(void **state)
{
    struct run run = plain;
    network *alone = parse(&run, NULL, NULL, NULL), *net = parse(&run, NULL, NULL, NULL);
    const char dropped[LAYERS] = {[1] = 1, [2] = 1};
    float scale[LAYERS] = {[3] = 9, [6] = 9, [8] = 9};
    const layer_drops drops = {.left_out = dropped, .scale = scale};

    (void)state;
    ddp_synthetic_fill(net, 1, 0);
    ddp_synthetic_fill(alone, 1, 0);
    net->drops = &drops;
    assert_memory_equal(network_predict(net, net->input), network_predict(alone, alone->input),
                        5 * IMAGES * sizeof(float));
    free_network(net);
    free_network(alone);
}

/* ---- blocks ---- */

static void expect_blocks(const char *body, const char *want)
{
    char text[4096], got[256] = "";
    ddp_residual_block *blocks;
    network *net;
    ddp_error err;
    int n;

    (void)snprintf(text, sizeof text, "[net]\nbatch=2\nwidth=8\nheight=8\nchannels=4\n%s", body);
    net = net_parse(text);
    assert_int_equal(ddp_residual_blocks_find(&blocks, &n, net, 0, &err), DDP_OK);
    for (int b = 0; b < n; b++)
        (void)sprintf(got + strlen(got), "%s%d-%d", b ? " " : "", blocks[b].first, blocks[b].last);
    assert_string_equal(got, want);
    free(blocks);
    free_network(net);
}

static void a_block_is_what_only_its_shortcut_reads(void **state)
{
    (void)state;
    expect_blocks(CONV(4, 3) CONV(4, 3) "[shortcut]\nfrom=-2\n", "1-1");
    expect_blocks(CONV(4, 3) CONV(4, 3) CONV(4, 3) "[shortcut]\nfrom=-3\n" CONV(2, 1)
                      CONV(4, 3) "[shortcut]\nfrom=-3\n",
                  "1-2 4-5");
    /* read by a route, read by another shortcut, reading from before */
    expect_blocks(CONV(4, 3) CONV(4, 3) "[shortcut]\nfrom=-2\n[route]\nlayers=1\n", "");
    expect_blocks(CONV(4, 3) CONV(4, 3) CONV(4, 3) "[shortcut]\nfrom=-3\n[shortcut]\nfrom=1\n", "");
    expect_blocks(CONV(4, 3) CONV(4, 3) "[route]\nlayers=-1,0\n" CONV(4, 1) "[shortcut]\nfrom=1\n",
                  "");
    /* within it a route is a layer as others */
    expect_blocks(CONV(4, 3) CONV(2, 3) CONV(2, 3) "[route]\nlayers=-1,-2\n[shortcut]\nfrom=0\n",
                  "1-3");
}

static void a_block_is_of_one_size_and_changes_nothing_but_its_sum(void **state)
{
    (void)state;
    expect_blocks(CONV(2, 3) CONV(4, 3) "[shortcut]\nfrom=-2\n", "");
    expect_blocks(CONV(4, 3) "[shortcut]\nfrom=-1\n", "");
    expect_blocks(CONV(4, 3) "[dropout]\nprobability=.5\n" CONV(4, 3) "[shortcut]\nfrom=0\n", "");
    expect_blocks(CONV(4, 3) CONV(4, 3) "[dropout]\nprobability=.5\n[shortcut]\nfrom=0\n", "1-2");
    expect_blocks(CONV(4, 3) CONV(4, 3) "[shortcut]\nfrom=0,-1\n", "");
    expect_blocks(CONV(4, 3) CONV(4, 3) "[shortcut]\nfrom=-2\nweights_type=per_feature\n", "");
    expect_blocks(CONV(4, 3) CONV(4, 3) "[convolutional]\nshare_index=-1\nbatch_normalize=1\n"
                                        "filters=4\nsize=3\npad=1\nactivation=leaky\n"
                                        "[shortcut]\nfrom=0\n",
                  "");
}

static void of_two_blocks_one_in_the_other_the_inner_one_is_it(void **state)
{
    (void)state;
    expect_blocks(CONV(4, 3) CONV(4, 3)
                      CONV(4, 3) "[shortcut]\nfrom=-2\n" CONV(4, 3) "[shortcut]\nfrom=0\n",
                  "2-2");
}

/* ---- refusals ---- */

static void refuse(struct rank *me, const char *body, const char *says)
{
    struct run run = plain;
    ddp_trainer_config config = config_of(&run);
    int batch = 8, subdivisions = 4;
    network *net = net_parse(body);
    ddp_trainer *t;
    ddp_error err;

    rank_expect_ok(me, ddp_trainer_open(&t, me->group, &config, &err), &err);
    rank_expect_ok(me, ddp_trainer_split(t, &batch, &subdivisions, &err), &err);
    rank_expect_error(me, ddp_trainer_attach(t, net, &err), &err, DDP_ERR_USAGE, says);
    assert_null(net->drops);
    ddp_trainer_close(t);
    free_network(net);
}

static void refuse_each(struct rank *me)
{
    static const char blocks[] = "[net]\nbatch=8\nsubdivisions=4\nwidth=8\nheight=8\nchannels=3\n";
    static const char none[] =
        "layer drop leaves residual blocks out, and this cfg has none that learns: no [shortcut] "
        "of one layer of its own size, with layers between them that nobody else reads";
    char text[2048];

    (void)snprintf(text, sizeof text, "%smax_batches=9\n%s[avgpool]\n[softmax]\n", blocks,
                   CONV(4, 3));
    refuse(me, text, none);
    (void)snprintf(text, sizeof text,
                   "%smax_batches=9\n%s%s%sstopbackward=1\n[avgpool]\n[softmax]\n", blocks,
                   CONV(4, 3), CONV(4, 3), "[shortcut]\nfrom=-2\n");
    refuse(me, text, none);
    (void)snprintf(text, sizeof text, "%s%s%s%s[avgpool]\n[softmax]\n", blocks, CONV(4, 3),
                   CONV(4, 3), "[shortcut]\nfrom=-2\n");
    refuse(me, text,
           "layer drop grows with the part of the run that is done: the cfg needs max_batches, "
           "which says how long it is");
}

static void what_has_no_blocks_or_no_length_is_refused(void **state)
{
    (void)state;
    ranks_run(1, refuse_each, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank_comes_to_the_bits_of_the_definition),
        cmocka_unit_test(with_adam_too),
        cmocka_unit_test(ranks_come_to_what_the_definition_comes_to),
        cmocka_unit_test(exact_ranks_come_to_the_same_bits_and_to_the_definition),
        cmocka_unit_test(several_steps_of_an_update_may_leave_out_other_blocks),
        cmocka_unit_test(a_network_that_is_tested_is_whole),
        cmocka_unit_test(a_block_is_what_only_its_shortcut_reads),
        cmocka_unit_test(a_block_is_of_one_size_and_changes_nothing_but_its_sum),
        cmocka_unit_test(of_two_blocks_one_in_the_other_the_inner_one_is_it),
        cmocka_unit_test(what_has_no_blocks_or_no_length_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
