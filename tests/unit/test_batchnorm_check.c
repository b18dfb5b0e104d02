/* ddp-test: quick */
/* Mini-batches of one image cannot be normalised: what is said then, and that it helps. */
#include "core/batchnorm_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static ddp_exact_run run_of(int batch, int subdivisions, int ranks, ddp_batch_mode mode)
{
    return (ddp_exact_run){.batch = batch,
                           .subdivisions = subdivisions,
                           .ranks = ranks,
                           .mode = mode,
                           .sync_every = 1,
                           .broadcast_buffers = 1};
}

static void expect_refusal(int batch, int subdivisions, int ranks, int exact, const char *end)
{
    ddp_exact_run run = run_of(batch, subdivisions, ranks, DDP_BATCH_GLOBAL);
    ddp_error err;

    assert_int_equal(ddp_batchnorm_refuse_one_value(&run, exact, 3, "connected", &err),
                     DDP_ERR_USAGE);
    assert_string_equal(strchr(err.text, ';'), end);
}

static void nearest_values_are_named(void **state)
{
    ddp_exact_run run = run_of(4, 2, 4, DDP_BATCH_GLOBAL);
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_batchnorm_refuse_one_value(&run, 0, 3, "connected", &err), DDP_ERR_USAGE);
    assert_string_equal(err.text,
                        "batch=4 subdivisions=2 on 4 ranks makes mini-batches of one image, in "
                        "which BatchNorm of layer 3 (connected) has one value a channel, and so no "
                        "variance; batch=8 or 2 ranks would work");
    expect_refusal(2, 1, 2, 0, "; batch=4 or 1 rank would work");
    expect_refusal(8, 8, 1, 0, "; subdivisions=4 or batch=16 would work");
    expect_refusal(8, 8, 4, 1, "; subdivisions=4 or batch=16 would work");
    expect_refusal(12, 12, 2, 0, "; subdivisions=6 or batch=24 would work");
}

/* Take the value behind `name`, if it is named, into *value. Returns whether it is. */
static int take(const char *advice, const char *name, int *value)
{
    const char *at = strstr(advice, name);

    if (at)
        *value = (int)strtol(at + strlen(name), NULL, 10);
    return at != NULL;
}

static int take_ranks(const char *advice, int *value)
{
    const char *at = strstr(advice, " rank");

    if (!at)
        return 0;
    while (at[-1] >= '0' && at[-1] <= '9')
        at--;
    *value = (int)strtol(at, NULL, 10);
    return 1;
}

static void expect_works(ddp_exact_run run, int exact, const char *advice)
{
    ddp_batch cut;
    ddp_error err = {0};

    if ((exact && ddp_exact_check(&run, &err))
        || ddp_batch_split(&cut, run.batch, run.subdivisions, run.ranks, run.mode, NULL, &err)
        || cut.images < 2)
        fail_msg("batch=%d subdivisions=%d ranks=%d mode %d%s: %s", run.batch, run.subdivisions,
                 run.ranks, (int)run.mode, advice, err.text);
}

/* Each value that is named, alone; there is one at least. */
static void try_advice(ddp_exact_run run, int exact)
{
    ddp_exact_run batch = run, subdivisions = run, ranks = run;
    ddp_error err;
    const char *advice;
    int named = 0;

    (void)ddp_batchnorm_refuse_one_value(&run, exact, 0, "connected", &err);
    advice = strchr(err.text, ';');
    if (take(advice, " batch=", &batch.batch) && ++named)
        expect_works(batch, exact, advice);
    if (take(advice, " subdivisions=", &subdivisions.subdivisions) && ++named)
        expect_works(subdivisions, exact, advice);
    if (take_ranks(advice, &ranks.ranks) && ++named)
        expect_works(ranks, exact, advice);
    assert_in_range(named, 1, 3);
}

static void every_value_that_is_named_works(void **state)
{
    ddp_error err;
    ddp_batch cut;

    (void)state;
    for (int batch = 1; batch <= 48; batch++)
        for (int subdivisions = 1; subdivisions <= batch; subdivisions++)
            for (int ranks = 1; ranks <= 12; ranks++)
                for (int kind = 0; kind < 3; kind++) {
                    int exact = kind == 2;
                    ddp_exact_run run = run_of(batch, subdivisions, ranks,
                                               kind == 1 ? DDP_BATCH_RANK : DDP_BATCH_GLOBAL);

                    if ((exact && ddp_exact_check(&run, &err))
                        || ddp_batch_split(&cut, batch, subdivisions, ranks, run.mode, NULL, &err)
                        || cut.images > 1)
                        continue;
                    try_advice(run, exact);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_values_are_named),
        cmocka_unit_test(every_value_that_is_named_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
