/* ddp-test: quick tsan */
/* Layers whose backward does not run: on some rank, on none, in some pass. The sums,
 * which ranks tell which layers were used, and that nobody hangs. */
#include "comm/group_schedule.h"
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

enum { MAX_RANKS = 4, STEPS = 3, FIRST_IN_PLAN = 8, LAST_IN_PLAN = 1 };

typedef int runs_fn(const struct toy_step *s, int rank, int pass, int layer);

struct job {
    ddp_reducer_config config;
    runs_fn *runs;
    int passes;
    int tells; /* blocks of layers 3 and 4 and of layer 6, which are left out together */
};

static const int blocks[TOY_LAYERS] = {[3] = 1, [4] = 1, [6] = 2};

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;
    ddp_reducer *r;
    struct toy toy;
    ddp_error err;

    toy_open(&toy, 0);
    if (job->tells)
        toy.table.block = blocks;
    if (ddp_reducer_open(&r, me->group, &toy.table, &job->config, &err)) {
        rank_wrong(me, "%s", err.text);
        toy_close(&toy);
        return;
    }
    for (unsigned i = 1; i <= STEPS; i++) {
        struct toy_step step = {
            .seed = i, .passes = job->passes, .runs = job->runs, .tells = job->tells};

        toy_backward(&toy, r, &step, me);
        toy_update(&toy, r, &step, me);
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void run_jobs(runs_fn *runs, int passes, int tells)
{
    static const size_t capacities[] = {1, 4096, 1 << 30};

    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++)
        for (int overlap = 0; overlap < 2; overlap++)
            for (int size = 1; size <= MAX_RANKS; size++) {
                struct job job = {.config = {.bucket_bytes = capacities[c],
                                             .first_bucket_bytes = capacities[c],
                                             .overlap = overlap,
                                             .defer_bytes = tells ? 4096 : 0,
                                             .find_unused = !tells},
                                  .runs = runs,
                                  .passes = passes,
                                  .tells = tells};

                ranks_run(size, take_steps, &job);
            }
}

static void run_everywhere(runs_fn *runs, int passes)
{
    run_jobs(runs, passes, 0);
}

static int skips_4_on_rank_1(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s, (void)pass;
    return layer != 4 || rank != 1;
}

static void layer_skipped_on_one_rank_gets_the_others_sum(void **state)
{
    (void)state;
    run_everywhere(skips_4_on_rank_1, 1);
    run_everywhere(skips_4_on_rank_1, 2);
}

static int skips_4(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s, (void)rank, (void)pass;
    return layer != 4;
}

static void layer_skipped_on_all_ranks_is_unused_and_its_gradient_zero(void **state)
{
    (void)state;
    run_everywhere(skips_4, 1);
    run_everywhere(skips_4, 3);
}

static int skips_4_after_pass_0(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s, (void)rank;
    return layer != 4 || pass == 0;
}

static void layer_that_ran_in_an_early_pass_alone_is_summed(void **state)
{
    (void)state;
    run_everywhere(skips_4_after_pass_0, 3);
}

static int runs_4_in_pass_0_of_rank_0(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s;
    return layer != 4 || (pass == 0 && rank == 0);
}

static void layer_that_ran_once_on_one_rank_is_used_on_all(void **state)
{
    (void)state;
    run_everywhere(runs_4_in_pass_0_of_rank_0, 2);
}

static int skips_the_plans_ends(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s;
    if (layer == FIRST_IN_PLAN)
        return (rank + pass) % 2;
    return layer != LAST_IN_PLAN || rank == 0;
}

static void first_bucket_without_its_layer_does_not_stall_the_others(void **state)
{
    (void)state;
    run_everywhere(skips_the_plans_ends, 1);
    run_everywhere(skips_the_plans_ends, 2);
}

static int skips_everything(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s, (void)rank, (void)pass, (void)layer;
    return 0;
}

static void step_in_which_no_layer_ran_ends(void **state)
{
    (void)state;
    run_everywhere(skips_everything, 2);
}

static int skips_4_in_step_2(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)rank, (void)pass;
    return layer != 4 || s->seed != 2;
}

static void use_in_one_step_says_nothing_of_the_next(void **state)
{
    (void)state;
    run_everywhere(skips_4_in_step_2, 1);
}

static int leaves_a_block_out_in_turn(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)rank, (void)pass;
    return blocks[layer] == 0 || blocks[layer] != (int)(s->seed % 3);
}

static int leaves_both_out_after_pass_0(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)rank;
    return blocks[layer] == 0 || (pass == 0 && s->seed % 2 == 0);
}

static int leaves_out_in_pass_0(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)s, (void)rank;
    return blocks[layer] == 0 || pass > 0;
}

/* With find_unused 0: it is no error. */
static void blocks_that_are_left_out_are_unused_without_a_question(void **state)
{
    (void)state;
    run_jobs(leaves_a_block_out_in_turn, 1, 1);
    run_jobs(leaves_a_block_out_in_turn, 3, 1);
    run_jobs(leaves_both_out_after_pass_0, 3, 1);
    run_jobs(leaves_out_in_pass_0, 2, 1);
}

static int leaves_6_out(const struct toy_step *s, int rank, int pass, int layer)
{
    (void)rank, (void)pass;
    return layer != 6 || s->seed == 1;
}

/* Layer 6 has 8300 of 9744 elements. */
static void nothing_of_a_left_out_block_is_sent(struct rank *me)
{
    ddp_reducer_config config = {.bucket_bytes = 1 << 20, .first_bucket_bytes = 1 << 20};
    uint64_t before = 0, bytes[3] = {0};
    struct toy toy;
    ddp_reducer *r;
    ddp_error err;

    toy_open(&toy, 0);
    toy.table.block = blocks;
    rank_expect_ok(me, ddp_group_use_schedule(me->group, DDP_SCHEDULE_DIRECT, &err), &err);
    rank_expect_ok(me, ddp_reducer_open(&r, me->group, &toy.table, &config, &err), &err);
    for (unsigned i = 1; i <= 2; i++) {
        struct toy_step step = {.seed = i, .passes = 1, .runs = leaves_6_out, .tells = 1};

        toy_backward(&toy, r, &step, me);
        toy_update(&toy, r, &step, me);
        bytes[i] = ddp_group_traffic(me->group).bytes - before;
        before += bytes[i];
        for (size_t piece = 0, b; piece < ddp_reducer_piece_count(r); piece++)
            if (!ddp_reducer_sum(r, piece, &b)
                != (i == 2 && ddp_reducer_plan(r)->buckets[b].first_layer == 6))
                rank_wrong(me, "step %u: bucket %zu is not what is left out", i, b);
    }
    if (bytes[1] < 9744 * 4 || bytes[2] + 8300 * 4 > bytes[1])
        rank_wrong(me, "%llu bytes without layer 6, %llu with it", (unsigned long long)bytes[2],
                   (unsigned long long)bytes[1]);
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void what_is_left_out_is_not_sent(void **state)
{
    (void)state;
    ranks_run(2, nothing_of_a_left_out_block_is_sent, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_skipped_on_one_rank_gets_the_others_sum),
        cmocka_unit_test(layer_skipped_on_all_ranks_is_unused_and_its_gradient_zero),
        cmocka_unit_test(layer_that_ran_in_an_early_pass_alone_is_summed),
        cmocka_unit_test(layer_that_ran_once_on_one_rank_is_used_on_all),
        cmocka_unit_test(first_bucket_without_its_layer_does_not_stall_the_others),
        cmocka_unit_test(step_in_which_no_layer_ran_ends),
        cmocka_unit_test(use_in_one_step_says_nothing_of_the_next),
        cmocka_unit_test(blocks_that_are_left_out_are_unused_without_a_question),
        cmocka_unit_test(what_is_left_out_is_not_sent),
    };

    return cmocka_run_group_tests_name("reducer unused", tests, NULL, NULL);
}
