/* ddp-test: quick */
/* Tests of layer drop's draws: the probabilities, against the formula in draw.h, and how often
 * blocks are dropped. */
#include "algorithms/layer_drop/draw.h"
#include "unit/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void expect_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12))
        fail_msg("%.17g, not %.17g", got, want);
}

static void kept_with_the_probability_of_the_paper(void **state)
{
    static const double most[] = {.1, .5, .9};
    static const size_t lengths[] = {1, 7, 1000, 500200};

    (void)state;
    for (size_t m = 0; m < 3; m++)
        for (size_t n = 0; n < 4; n++)
            for (size_t step = 0; step <= lengths[n]; step += lengths[n] / 50 + 1)
                for (int block = 0; block < 5; block++) {
                    ddp_layer_drop d = {.most = most[m], .steps = lengths[n], .blocks = 5};
                    double bar = 1 - most[m];
                    double theta = (1 - bar) * exp(-100. / (double)lengths[n] * (double)step) + bar;

                    expect_near(ddp_layer_drop_keep_probability(&d, block, step),
                                1 - (block + 1) / 5. * (1 - theta));
                }
}

static void the_first_step_leaves_nothing_out(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++)
        for (int block = 0; block < 20; block++) {
            ddp_layer_drop d = {.seed = seed, .most = .9, .steps = 10, .blocks = 20};

            expect_near(ddp_layer_drop_keep_probability(&d, block, 0), 1);
            assert_false(ddp_layer_drop_drops_block(&d, block, 0));
        }
}

/* 20000 draws of p have a deviation below .0036. */
static void each_block_is_left_out_as_often_as_the_formula_says(void **state)
{
    enum { DRAWS = 20000, BLOCKS = 4 };
    ddp_layer_drop d = {.seed = 7, .most = .6, .steps = 1, .blocks = BLOCKS};

    (void)state;
    for (int block = 0; block < BLOCKS; block++) {
        int out = 0;

        for (size_t step = 100; step < 100 + DRAWS; step++)
            out += ddp_layer_drop_drops_block(&d, block, step);
        if (fabs((double)out / DRAWS - .6 * (block + 1) / BLOCKS) > .018)
            fail_msg("block %d: %d of %d", block, out, DRAWS);
    }
}

static int differing(const ddp_layer_drop *a, int block_a, const ddp_layer_drop *b, int block_b,
                     size_t later)
{
    int n = 0;

    for (size_t step = 1000; step < 2000; step++)
        n += ddp_layer_drop_drops_block(a, block_a, step)
             != ddp_layer_drop_drops_block(b, block_b, step + later);
    return n;
}

static void draws_are_of_the_seed_the_step_and_the_block(void **state)
{
    ddp_layer_drop d = {.seed = 1, .most = .5, .steps = 10, .blocks = 100}, other = d;

    (void)state;
    other.seed = 2;
    assert_int_equal(differing(&d, 99, &d, 99, 0), 0);
    assert_greater(differing(&d, 99, &other, 99, 0), 300);
    assert_greater(differing(&d, 99, &d, 98, 0), 300);
    assert_greater(differing(&d, 99, &d, 99, 1), 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_with_the_probability_of_the_paper),
        cmocka_unit_test(the_first_step_leaves_nothing_out),
        cmocka_unit_test(each_block_is_left_out_as_often_as_the_formula_says),
        cmocka_unit_test(draws_are_of_the_seed_the_step_and_the_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
