/* ddp-test: quick */
/* A cfg's text with other values: cli/cfg_edit.c; and how long a run may be: bench/fit_run.c. */
#include "bench/fit_run.h"
#include "cli/cfg_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char cfg[] = "# mine\n[net]\nbatch = 64 \nwidth=416\n\n[yolo]\nanchors=1,2\n"
                          "[route]\nbatch=1\n[yolo]\n#anchors=5,6\nanchors =  3,4";

static void expect_edited(const char *text, const ddp_cfg_edit *edits, size_t count,
                          const char *expected)
{
    char *edited = ddp_cfg_edited(text, edits, count);

    assert_non_null(edited);
    assert_string_equal(edited, expected);
    free(edited);
}

static void values_change_in_their_places(void **state)
{
    const ddp_cfg_edit edits[] = {{"net", "batch", "16"},
                                  {"net", "width", NULL},
                                  {"net", "burn_in", "9"},
                                  {"yolo", "anchors", "7,8"}};

    (void)state;
    expect_edited(cfg, edits, 4,
                  "# mine\n[net]\nburn_in=9\nbatch=16\nwidth=416\n\n[yolo]\nanchors=7,8\n"
                  "[route]\nbatch=1\n[yolo]\n#anchors=5,6\nanchors=7,8\n");
    expect_edited(cfg, edits, 0, cfg);
    expect_edited("", edits, 4, "");
    expect_edited("[net]", edits, 1, "[net]\nbatch=16\n");
    expect_edited("[network]\r\nbatch=1\r\n", edits, 1, "[network]\r\nbatch=16\n");
}

static void the_first_value_of_a_section_is_found(void **state)
{
    char value[16];

    (void)state;
    assert_true(ddp_cfg_value_of(cfg, "yolo", "anchors", value, sizeof value));
    assert_string_equal(value, "1,2");
    assert_true(ddp_cfg_value_of(cfg, "net", "batch", value, sizeof value));
    assert_int_equal(atoi(value), 64);
    assert_false(ddp_cfg_value_of(cfg, "net", "anchors", value, sizeof value));
    assert_false(ddp_cfg_value_of(cfg, "region", "anchors", value, sizeof value));
}

static void expect_fit(double seconds, int ranks, ddp_run_length expected)
{
    const ddp_run_length own = {
        .batch = 64, .subdivisions = 16, .max_batches = 6000, .burn_in = 1000};
    ddp_run_length is = ddp_fit_run(own, seconds, 0.1, ranks);

    assert_int_equal(is.batch, expected.batch);
    assert_int_equal(is.subdivisions, expected.subdivisions);
    assert_int_equal(is.max_batches, expected.max_batches);
    assert_int_equal(is.burn_in, expected.burn_in);
}

/* A picture takes 0.1 s, so a batch of 64 takes 6.4 s and, of a time of which 0.9 is for steps, a
 * step 7.11 s. */
static void a_run_fits_into_its_time(void **state)
{
    (void)state;
    expect_fit(50000, 1, (ddp_run_length){64, 16, 6000, 1000});
    expect_fit(32000, 1, (ddp_run_length){64, 16, 4500, 750});
    expect_fit(3600, 1, (ddp_run_length){32, 8, 1012, 169});
    expect_fit(1600, 1, (ddp_run_length){16, 4, 900, 150});
    expect_fit(3600, 16, (ddp_run_length){64, 16, 506, 100}); /* each rank has a mini-batch */
    expect_fit(400, 1, (ddp_run_length){16, 4, 225, 75});     /* the rate rises in a third of it */
    expect_fit(1, 1, (ddp_run_length){16, 4, 0, 0});
}

static void rates_fall_at_the_same_shares(void **state)
{
    char text[64];

    (void)state;
    ddp_fit_steps("400000, 450000", 500000, 1000, text, sizeof text);
    assert_string_equal(text, "800,900");
    ddp_fit_steps("", 10, 5, text, sizeof text);
    assert_string_equal(text, "");
    ddp_fit_steps("6", 10, 5, text, sizeof text);
    assert_string_equal(text, "3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_change_in_their_places),
        cmocka_unit_test(the_first_value_of_a_section_is_found),
        cmocka_unit_test(a_run_fits_into_its_time),
        cmocka_unit_test(rates_fall_at_the_same_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
