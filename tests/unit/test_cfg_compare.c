/* ddp-test: quick */
/* Changes of a cfg are told, to the word. */
#include "checkpoint/cfg_compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static const char cfg[] = "# comment\n[net]\nbatch = 64\nmomentum=0.9\n\n"
                          "[convolutional]\nfilters=16\nsize=3\n[maxpool]\nsize=2\n";

static void expect_same(const char *now)
{
    ddp_error err = {0};

    if (ddp_cfg_compare(cfg, strlen(cfg), now, strlen(now), NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static void expect_difference(const char *now, const char *want)
{
    ddp_error err = {0};

    assert_int_equal(ddp_cfg_compare(cfg, strlen(cfg), now, strlen(now), NULL, NULL, &err),
                     DDP_ERR_MISMATCH);
    assert_string_equal(err.text, want);
}

static void comments_blanks_and_empty_lines_do_not_count(void **state)
{
    (void)state;
    expect_same(cfg);
    expect_same("[net]\r\nb a t c h=6 4\n;batch=3\nmomentum\t=0.9\n   # x\n"
                "[convolutional]\n\n\nfilters=16\nsize=3\n[maxpool]\nsize=2");
}

static void order_of_keys_and_second_values_do_not_count(void **state)
{
    (void)state;
    expect_same("[net]\nmomentum=0.9\nbatch=64\nbatch=3\n[convolutional]\nsize=3\nfilters=16\n"
                "[maxpool]\nsize=2\n");
}

static void changed_value_is_named(void **state)
{
    (void)state;
    expect_difference("[net]\nbatch=64\nmomentum=0.95\n[convolutional]\nfilters=16\nsize=3\n"
                      "[maxpool]\nsize=2\n",
                      "the cfg changed: [net]: momentum was 0.9 (line 4), is now 0.95 (line 3)");
    expect_difference(
        "[net]\nbatch=64\nmomentum=0.9\n[convolutional]\nfilters=16\nsize=3\n"
        "[maxpool]\nsize=4\n",
        "the cfg changed: layer 1, [maxpool]: size was 2 (line 10), is now 4 (line 8)");
}

static void key_that_came_or_went_is_named(void **state)
{
    (void)state;
    expect_difference("[net]\nbatch=64\n[convolutional]\nfilters=16\nsize=3\n[maxpool]\nsize=2\n",
                      "the cfg changed: [net]: momentum was 0.9 (line 4), is now not there");
    expect_difference("[net]\nbatch=64\nmomentum=0.9\n[convolutional]\nfilters=16\nsize=3\npad=1\n"
                      "[maxpool]\nsize=2\n",
                      "the cfg changed: layer 0, [convolutional]: pad was not there, is now 1 "
                      "(line 7)");
}

static void section_that_came_or_went_is_named(void **state)
{
    (void)state;
    expect_difference("[net]\nbatch=64\nmomentum=0.9\n[maxpool]\nsize=2\n",
                      "the cfg changed: section 2 was [convolutional] (line 6), is now [maxpool] "
                      "(line 4)");
    expect_difference("[net]\nbatch=64\nmomentum=0.9\n[convolutional]\nfilters=16\nsize=3\n",
                      "the cfg changed: section 3 was [maxpool] (line 9), is now not there");
    expect_difference("[net]\nbatch=64\nmomentum=0.9\n[convolutional]\nfilters=16\nsize=3\n"
                      "[maxpool]\nsize=2\n[softmax]\n",
                      "the cfg changed: section 4 was not there, is now [softmax] (line 9)");
    expect_difference("", "the cfg changed: section 1 was [net] (line 2), is now not there");
}

static void hear(void *ctx, const char *sentence)
{
    strcat(ctx, sentence);
    strcat(ctx, "\n");
}

static void who_hears_of_differences_hears_of_all(void **state)
{
    const char *now = "[net]\nbatch=32\n[convolutional]\nfilters=16\nsize=1\npad=1\npad=0\n"
                      "[softmax]\ngroups=2\n";
    char heard[1024] = "";
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_cfg_compare(cfg, strlen(cfg), now, strlen(now), hear, heard, &err),
                     DDP_OK);
    assert_string_equal(
        heard, "the cfg changed: [net]: batch was 64 (line 3), is now 32 (line 2)\n"
               "the cfg changed: [net]: momentum was 0.9 (line 4), is now not there\n"
               "the cfg changed: layer 0, [convolutional]: size was 3 (line 8), is now 1 (line 5)\n"
               "the cfg changed: layer 0, [convolutional]: pad was not there, is now 1 (line 6)\n"
               "the cfg changed: section 3 was [maxpool] (line 9), is now [softmax] (line 8)\n");
}

/* Cut anywhere, with bytes that no text has: no harm, and no cfg but the whole is the same. */
static void anything_can_be_compared(void **state)
{
    char text[sizeof cfg];
    ddp_status st;
    ddp_error err;

    (void)state;
    for (size_t i = 0; i + 2 < sizeof cfg; i++) {
        assert_int_equal(ddp_cfg_compare(cfg, strlen(cfg), cfg, i, NULL, NULL, &err),
                         DDP_ERR_MISMATCH);
        memcpy(text, cfg, sizeof cfg);
        text[i] = (char)(i % 2 ? 0 : 255);
        st = ddp_cfg_compare(text, strlen(cfg), cfg, i, NULL, NULL, &err);
        assert_true(st == DDP_OK || st == DDP_ERR_MISMATCH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_blanks_and_empty_lines_do_not_count),
        cmocka_unit_test(order_of_keys_and_second_values_do_not_count),
        cmocka_unit_test(changed_value_is_named),
        cmocka_unit_test(key_that_came_or_went_is_named),
        cmocka_unit_test(section_that_came_or_went_is_named),
        cmocka_unit_test(who_hears_of_differences_hears_of_all),
        cmocka_unit_test(anything_can_be_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
