/* Layers whose backward does not run: on some rank, on none, in some pass. The sums,
 * which ranks tell which layers were used, and that nobody hangs. */
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
};

static void take_steps(struct rank *me)
{
    const struct job *job = me->shared;
    ddp_reducer *r;
    struct toy toy;
    ddp_error err;

    toy_open(&toy, 0);
    if (ddp_reducer_open(&r, me->group, &toy.table, &job->config, &err)) {
        rank_wrong(me, "%s", err.text);
        toy_close(&toy);
        return;
    }
    for (unsigned i = 1; i <= STEPS; i++) {
        struct toy_step step = {.seed = i, .passes = job->passes, .runs = job->runs};

        toy_backward(&toy, r, &step, me);
        toy_update(&toy, r, &step, me);
    }
    rank_meet(me);
    ddp_reducer_close(r);
    toy_close(&toy);
}

static void run_everywhere(runs_fn *runs, int passes)
{
    static const size_t capacities[] = {1, 4096, 1 << 30};

    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++)
        for (int overlap = 0; overlap < 2; overlap++)
            for (int size = 1; size <= MAX_RANKS; size++) {
                struct job job = {.config = {.bucket_bytes = capacities[c],
                                             .first_bucket_bytes = capacities[c],
                                             .overlap = overlap,
                                             .find_unused = 1},
                                  .runs = runs,
                                  .passes = passes};

                ranks_run(size, take_steps, &job);
            }
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
    };

    return cmocka_run_group_tests_name("reducer unused", tests, NULL, NULL);
}
