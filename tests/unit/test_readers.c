/* ddp-test: quick */
/* What people write into cfgs, .data files, lists and labels, as everything here reads it:
 * support/text. */
#include "text/label_line.h"
#include "text/line.h"
#include "text/numbers.h"
#include "text/words.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

/* ---- numbers ---- */

/* The numbers of a list with blanks between, up to what is wrong with one. */
static void expect_numbers(const char *list, int count, const char *want)
{
    char got[256] = "";
    const char *at = list, *wrong = NULL;
    double value;

    assert_int_equal(ddp_numbers_count(list), count);
    for (size_t used = 0; !wrong && (*at || at == list);) {
        wrong = ddp_numbers_next(&at, &value);
        used += (size_t)(wrong ? snprintf(got + used, sizeof got - used, "%s ", wrong)
                               : snprintf(got + used, sizeof got - used, "%g ", value));
    }
    assert_string_equal(got, want);
}

static void reads_lists_of_numbers(void **state)
{
    (void)state;
    expect_numbers("0,1,2", 3, "0 1 2 ");
    expect_numbers("0,1,2,", 3, "0 1 2 ");
    expect_numbers("0,1,2,#,3", 3, "0 1 2 ");
    expect_numbers("-.5,+1e3,2.;of,them", 3, "-0.5 1000 2 ");
    expect_numbers("0,,1", 3, "0 not a number ");
    expect_numbers("0,1,2,,", 4, "0 1 2 not a number ");
    expect_numbers(",0", 2, "not a number ");
    expect_numbers("", 1, "not a number ");
    expect_numbers("#1", 1, "not a number ");
    expect_numbers("0x10", 1, "not a number ");
    expect_numbers("1e39", 1, "out of range ");
    expect_numbers("nan", 1, "not a number ");
    expect_numbers("1,-inf", 2, "1 not a number ");
    expect_numbers("1 2", 1, "not a number ");
    assert_true(ddp_numbers_end_in_comma("1,2,"));
    assert_true(ddp_numbers_end_in_comma("1,2,;of two"));
    assert_false(ddp_numbers_end_in_comma("1,2;,"));
    assert_false(ddp_numbers_end_in_comma(""));
}

static void reads_one_number(void **state)
{
    static const struct {
        const char *text, *wrong; /* wrong: as a whole number */
        int value;
    } cases[] = {{"8", NULL, 8},
                 {"8.", NULL, 8},
                 {"1e2#of pictures", NULL, 100},
                 {"8,", NULL, 8},
                 {"8 # pictures", NULL, 8},
                 {"8 9", "not a number", 0},
                 {"-2147483647", NULL, -2147483647},
                 {"2147483648", "out of range", 0},
                 {"8.5", "not a whole number", 0},
                 {"8,9", "not a single number", 0},
                 {"0,001", "not a single number", 0},
                 {"eight", "not a number", 0}};
    double real;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int value = 0;
        const char *wrong = ddp_number_read_whole(cases[i].text, &value);

        if (cases[i].wrong) {
            assert_non_null(wrong);
            assert_string_equal(wrong, cases[i].wrong);
        } else {
            assert_null(wrong);
            assert_int_equal(value, cases[i].value);
        }
    }
    assert_null(ddp_number_read("8.5", &real));
    assert_true(real == 8.5);
    assert_string_equal(ddp_number_read("8.5,1", &real), "not a single number");
}

/* ---- lines ---- */

static void expect_line(const char *text, int is_cfg, ddp_line_kind kind, const char *key,
                        const char *want)
{
    char line[128], *value;

    (void)snprintf(line, sizeof line, "%s", text);
    assert_int_equal(ddp_line_split(line, is_cfg, &value), kind);
    if (kind != DDP_LINE_BLANK)
        assert_string_equal(line, key);
    if (want)
        assert_string_equal(value, want);
    else
        assert_null(value);
}

static void splits_lines(void **state)
{
    (void)state;
    expect_line(" mask = 0, 1 \r\n", 1, DDP_LINE_OPTION, "mask", "0,1");
    expect_line("\ttrain = my set/a=b.list \r", 0, DDP_LINE_OPTION, "train", "my set/a=b.list");
    expect_line("top=", 0, DDP_LINE_OPTION, "top", "");
    expect_line("top", 0, DDP_LINE_OPTION, "top", NULL);
    expect_line(" [ net ]", 1, DDP_LINE_TITLE, "[net]", NULL);
    expect_line(" # a=b", 1, DDP_LINE_BLANK, NULL, NULL);
    expect_line(";a=b", 0, DDP_LINE_BLANK, NULL, NULL);
    expect_line(" \r\n", 1, DDP_LINE_BLANK, NULL, NULL);
    assert_true(ddp_line_lacks_comma("mask = 0 1,2"));
    assert_true(ddp_line_lacks_comma("x=1 .5"));
    assert_false(ddp_line_lacks_comma("mask = 0, 1 ,2 # 3 4"));
    assert_false(ddp_line_lacks_comma("a 1 b"));
}

static void cuts_lines(void **state)
{
    static const struct {
        const char *text, *rest;
        int has_more;
    } cases[] = {{"a b.jpg\r\n", "a b.jpg", 1}, {"a\rb\n", "a\rb", 1}, {"a \n", "a ", 1},
                 {" \t\r\n", " \t", 0},         {"", "", 0},           {"\r\r\n", "", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[32];

        (void)snprintf(line, sizeof line, "%s", cases[i].text);
        assert_int_equal(ddp_line_cut(line), cases[i].has_more);
        assert_string_equal(line, cases[i].rest);
    }
}

/* ---- words ---- */

static void cuts_words(void **state)
{
    char line[] = " a\tb\r\n\v", *at = line, blank[] = " \f\n", *at_blank = blank;

    (void)state;
    assert_string_equal(ddp_word_next(&at), "a");
    assert_string_equal(ddp_word_next(&at), "b");
    assert_null(ddp_word_next(&at));
    assert_null(ddp_word_next(&at_blank));
}

static void reads_words_that_are_numbers(void **state)
{
    static const char *const none[] = {"nan", "inf", "0x10", "1e39", "1,", ".5.", "one", ""};
    double value;
    int whole = 7;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(ddp_word_number(none[i], &value) || ddp_word_whole(none[i], &whole));
    assert_int_equal(whole, 7);
    assert_true(ddp_word_number("-5e-1", &value) && value == -.5);
    assert_false(ddp_word_whole("1.0", &whole) || ddp_word_whole("-", &whole));
    assert_true(ddp_word_whole("-12", &whole) && whole == -12);
    assert_true(ddp_word_whole("99999999999999999999", &whole) && whole == INT_MAX);
    assert_true(ddp_word_whole("-2147483649", &whole) && whole == INT_MIN);
}

/* ---- labels ---- */

static void expect_label(const char *text, ddp_label_verdict verdict, const char *kind,
                         const char *says)
{
    char line[256];
    ddp_label_line out;

    (void)snprintf(line, sizeof line, "%s", text);
    assert_int_equal(ddp_label_line_read(&out, line, 3), verdict);
    if (!kind) {
        assert_null(out.kind);
        return;
    }
    assert_string_equal(out.kind, kind);
    assert_non_null(strstr(out.why, says));
}

/* What is said has the number as it was written, to the last digit. */
static void judges_labels(void **state)
{
    (void)state;
    expect_label("0 .5 .5 .1 .1\r\n", DDP_LABEL_BOX, NULL, NULL);
    expect_label(" \v\r\n", DDP_LABEL_BLANK, NULL, NULL);
    expect_label("+2 .5 .5 .1 .1", DDP_LABEL_BOX, NULL, NULL);
    expect_label("0 .5 .5 1.0000001 .9", DDP_LABEL_BOX, NULL, NULL);
    expect_label("0 -1e-9 1.000001 .1 .1", DDP_LABEL_BOX, NULL, NULL);
    expect_label("0 .5 .5 1.00001 .9", DDP_LABEL_CUT, "label-range", "1.00001");
    expect_label("0 -0.00001 .5 .1 .1", DDP_LABEL_CUT, "label-range", "-0.00001");
    expect_label("0 .5 .5 0 .1", DDP_LABEL_CUT, "label-zero", "size 0");
    expect_label("0 .5 .5 .1 -1e-9", DDP_LABEL_WRONG, "label-size", "-1e-9");
    expect_label("0 .5 .5 .1 .0009", DDP_LABEL_BOX, "label-tiny", "thousandth");
    expect_label("0 50 50 10 10.5", DDP_LABEL_CUT, "label-pixels",
                 "10.5 are pixels or percentages");
    expect_label("0 250 50 10 10", DDP_LABEL_CUT, "label-pixels", "are pixels;");
    expect_label("0 .5 .5 .1", DDP_LABEL_WRONG, "label-columns", "4 columns");
    expect_label("0 .5 .5 .1 .1 .9 .9", DDP_LABEL_WRONG, "label-columns", "more than 5");
    expect_label("0 .5 .5 .1 nan", DDP_LABEL_WRONG, "label-number", "'nan'");
    expect_label("0 .5 .5 .1 ,1", DDP_LABEL_WRONG, "label-number", "',1'");
    expect_label("0.0 .5 .5 .1 .1", DDP_LABEL_WRONG, "label-class", "'0.0'");
    expect_label("3 .5 .5 .1 .1", DDP_LABEL_WRONG, "label-class", "class 3 is not one of the 3");
    expect_label("99999999999999999999 .5 .5 .1 .1", DDP_LABEL_WRONG, "label-class", "class 9999");
}

static void puts_rounded_boxes_on_the_edge(void **state)
{
    char line[] = "1 -1e-8 1.0000001 1.0000005 1";
    ddp_label_line out;

    (void)state;
    assert_int_equal(ddp_label_line_read(&out, line, 0), DDP_LABEL_BOX);
    assert_int_equal(out.box.class_id, 1);
    assert_true(out.box.x == 0 && out.box.y == 1 && out.box.w == 1 && out.box.h == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lists_of_numbers),
        cmocka_unit_test(reads_one_number),
        cmocka_unit_test(cuts_words),
        cmocka_unit_test(reads_words_that_are_numbers),
        cmocka_unit_test(splits_lines),
        cmocka_unit_test(cuts_lines),
        cmocka_unit_test(judges_labels),
        cmocka_unit_test(puts_rounded_boxes_on_the_edge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
